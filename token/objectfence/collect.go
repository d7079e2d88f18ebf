package objectfence

import (
	"context"
	"strings"
)

// Collect returns which of the listed objects can be deleted: versions of the
// resource to which nothing points and nothing will. List the objects that begin
// with VersionPrefix first, call Collect, then delete what it returns, at any
// time later. It blocks for the store, and while others move the pointer; ctx
// ends that.
//
// A writer makes its version before it moves the pointer, so that one that is
// listed may still be about to be pointed to. Collect moves the pointer, without
// changing what it says: whoever wrote a version that could be listed has read
// the pointer before, and will find that it has changed. A reader that has read
// the pointer before reads it again when it does not find the version.
//
// Names that are not versions of the resource are left out. On failure, and for
// a resource that was never accepted, it returns none. Errors: token.ErrInvalid
// for the name; those of Accept but *token.StaleError. It costs one Get and one
// PutIf.
func (g *Guard) Collect(ctx context.Context, resource string, listed []Name) (garbage []Name, err error) {
	if err := checkResource(resource); err != nil {
		return nil, err
	}
	var current Name
	none := false
	err = g.move(ctx, resource, func(at state) (*pointer, error) {
		current = ""
		if at.Version != nil {
			current = at.Version.Name
		}
		if none = at.etag == Absent; none {
			// A pointer can't be made: there is no token for it.
			return nil, nil
		}
		return &at.pointer, nil
	})
	if err != nil || none {
		return nil, err
	}
	for _, name := range listed {
		if name != current && strings.HasPrefix(string(name), string(VersionPrefix(resource))) {
			garbage = append(garbage, name)
		}
	}
	return garbage, nil
}
