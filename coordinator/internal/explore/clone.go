package explore

import (
	"fmt"
	"reflect"
	"unsafe"
)

// clone returns a copy of what p points to that shares nothing with it that
// either of them may change. It follows unexported fields, so the types need
// not know of it.
//
// What makes it right for a hub and a proposer: they are trees of structs,
// maps, slices and pointers, in which no pointer leads into the middle of
// another object. Two pointers to one object are two pointers to one copy.
// What an interface holds is a value that nobody changes once it is there (a
// command), and so is a slice of bytes (an encoded batch): both are shared.
// A function is shared too; whoever clones binds it anew. Anything else
// panics.
func clone[T any](p *T) *T {
	c := cloner{}
	return (*T)(c.pointee(unsafe.Pointer(p), reflect.TypeFor[T]()))
}

// cloner knows the copies that were made already.
type cloner map[unsafe.Pointer]unsafe.Pointer

func (c cloner) pointee(from unsafe.Pointer, t reflect.Type) unsafe.Pointer {
	if to, ok := c[from]; ok {
		return to
	}
	v := reflect.New(t)
	to := v.UnsafePointer()
	c[from] = to
	c.fill(v.Elem(), reflect.NewAt(t, from).Elem())
	return to
}

// fill makes to, which may be set, a copy of from.
func (c cloner) fill(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.NewAt(from.Type().Elem(), c.pointee(from.UnsafePointer(), from.Type().Elem())))
		}
	case reflect.Struct:
		for i := range from.NumField() {
			c.fill(field(to, i), field(from, i))
		}
	case reflect.Map:
		c.fillMap(to, from)
	case reflect.Slice:
		c.fillSlice(to, from)
	case reflect.Array:
		for i := range from.Len() {
			c.fill(to.Index(i), from.Index(i))
		}
	case reflect.Interface:
		if !from.IsNil() && from.Elem().Kind() == reflect.Pointer {
			panic(fmt.Sprintf("explore: can't clone a %s that holds a pointer", from.Type()))
		}
		to.Set(from)
	case reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
		panic(fmt.Sprintf("explore: can't clone a %s", from.Type()))
	default:
		to.Set(from)
	}
}

func (c cloner) fillMap(to, from reflect.Value) {
	if from.IsNil() {
		return
	}
	to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
	for entries := from.MapRange(); entries.Next(); {
		value := reflect.New(from.Type().Elem()).Elem()
		c.fill(value, entries.Value())
		to.SetMapIndex(entries.Key(), value)
	}
}

func (c cloner) fillSlice(to, from reflect.Value) {
	switch {
	case from.IsNil():
	case from.Type().Elem().Kind() == reflect.Uint8:
		to.Set(from)
	default:
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			c.fill(to.Index(i), from.Index(i))
		}
	}
}

// field returns the field of an addressable struct, exported or not, in a
// form that may be read and set.
func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	if !f.CanAddr() {
		return f
	}
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}

// inside returns a pointer to a field of what p points to.
func inside[F, T any](p *T, name string) *F {
	f := reflect.ValueOf(p).Elem().FieldByName(name)
	if f.Type() != reflect.TypeFor[F]() {
		panic(fmt.Sprintf("explore: %s of %T is a %s", name, p, f.Type()))
	}
	return (*F)(f.Addr().UnsafePointer())
}
