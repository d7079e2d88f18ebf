package objectfence

import (
	"context"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/internal/turn"
)

const (
	// OperationsDefault is how many operations of a resource are remembered when
	// Config does not say.
	OperationsDefault = 64
	// OperationsLimit is the greatest Config.OperationsMax.
	OperationsLimit = 128
	// ValueBytesMax is the length of the longest value of an Update.
	ValueBytesMax = 1024
)

// Config says what New is to guard, and how.
type Config struct {
	// Store holds the objects. Required.
	Store Store
	// OperationsMax is how many operations the guard remembers for each
	// resource; the oldest are forgotten first. Raise it if more operations than
	// that may come between the first attempt at one and the last retry. Each
	// makes the pointer larger, by its id and value, and the pointer is read and
	// written with every call. Default: OperationsDefault; at most
	// OperationsLimit.
	OperationsMax int
}

// Guard protects resources whose content is an object of a Store. All methods
// are safe for concurrent use, also by Guards of several processes on one Store.
type Guard struct {
	store         Store
	operationsMax int
	// turns spares the writers of one process what they would lose to each
	// other: all but one would make a version in vain. It is not needed for any
	// guarantee.
	turns turn.Lines
}

// Content is what a resource holds.
type Content struct {
	// Body is nil if nothing was written yet.
	Body []byte
	// Token is the greatest token accepted, zero if none was.
	Token token.Token
}

// New makes a guard. It does not ask the store for anything; Probe does.
//
// Errors: token.ErrInvalid, with every problem of the Config.
func New(config Config) (*Guard, error) {
	var problems []error
	if config.Store == nil {
		problems = append(problems, fmt.Errorf("%w: Store is nil", token.ErrInvalid))
	}
	if config.OperationsMax < 0 || config.OperationsMax > OperationsLimit {
		problems = append(problems,
			fmt.Errorf("%w: OperationsMax is %d, not 0 to %d", token.ErrInvalid, config.OperationsMax, OperationsLimit))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	g := &Guard{store: config.Store, operationsMax: config.OperationsMax}
	if g.operationsMax == 0 {
		g.operationsMax = OperationsDefault
	}
	return g, nil
}

// Accept returns nil if w's token is at least the greatest accepted for the
// resource, and keeps it as the greatest. A new owner calls it before it reads,
// so that no owner before it can write any more. It blocks for the store, and
// while others move the pointer; ctx ends that.
//
// On success the token is kept. On failure it is not, except after
// token.ErrUnknown. Errors: *token.StaleError; token.ErrInvalid, also for an
// operation id, as nothing is done here; those of Do that are not about its
// update. It costs one Get and, if the token is greater, one PutIf.
func (g *Guard) Accept(ctx context.Context, w token.Write) error {
	if err := w.Check(); err != nil {
		return err
	}
	if w.Operation != "" {
		return fmt.Errorf("%w: Accept does nothing that has an operation id, and was given %.64q",
			token.ErrInvalid, string(w.Operation))
	}
	return g.move(ctx, w.Resource, func(at state) (*pointer, error) {
		if err := w.Judge(at.Token); err != nil {
			return nil, err
		}
		return raise(at, w), nil
	})
}

// Highest returns the greatest token accepted for the resource, zero if none
// was. It blocks for the store; ctx ends that. Errors: token.ErrInvalid for the
// name; ErrDamaged, ErrFormat; the store's. It costs one Get.
func (g *Guard) Highest(ctx context.Context, resource string) (token.Token, error) {
	if err := checkResource(resource); err != nil {
		return 0, err
	}
	at, err := g.read(ctx, resource)
	return at.Token, err
}

// Current returns the resource's content, whole and as it was written. It blocks
// for the store; ctx ends that. A write that comes meanwhile is in it or not.
// Errors: token.ErrInvalid for the name; ErrDamaged, ErrFormat; the store's. It
// costs two Gets, and two more for each write that came between them whose
// predecessor was deleted at once.
func (g *Guard) Current(ctx context.Context, resource string) (Content, error) {
	if err := checkResource(resource); err != nil {
		return Content{}, err
	}
	at, err := g.read(ctx, resource)
	for err == nil {
		var body []byte
		body, err = g.fetch(ctx, at)
		if err == nil {
			return Content{Body: body, Token: at.Token}, nil
		}
		if !errors.Is(err, ErrNotFound) {
			break
		}
		at, err = g.reread(ctx, at)
	}
	return Content{}, err
}

// raise returns the pointer with w's token as the greatest, nil if it is that
// already.
func raise(at state, w token.Write) *pointer {
	if w.Token <= at.Token {
		return nil
	}
	next := at.pointer
	next.Token = w.Token
	return &next
}

// checkResource is the part of Write.Check that is about the resource.
func checkResource(resource string) error {
	return token.Write{Resource: resource, Token: 1}.Check()
}
