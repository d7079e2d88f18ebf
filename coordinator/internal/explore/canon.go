package explore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
)

// ignored are fields of types that are not part of what a thing is: two things
// that differ in nothing else behave alike.
type ignored map[reflect.Type][]string

var instant = reflect.TypeFor[clock.Instant]()

// canon returns the identity of what p points to at an instant of its clock:
// equal bytes mean that it will behave alike from then on. Instants are
// written as ages. Those above the longest are alike: nothing compares an
// instant with another one that far away. An instant of zero, or the least
// one, stands for never.
func canon[T any](p *T, now clock.Instant, longest time.Duration, but ...ignored) []byte {
	w := canonWriter{now: now, longest: longest, but: but, seen: map[unsafe.Pointer]uint64{}}
	w.value(reflect.ValueOf(p).Elem())
	return w.out
}

type canonWriter struct {
	out     []byte
	now     clock.Instant
	longest time.Duration
	but     []ignored
	seen    map[unsafe.Pointer]uint64 // pointers, by the order in which they came
}

func (w *canonWriter) int(n int64) { w.out = binary.AppendVarint(w.out, n) }

func (w *canonWriter) instant(i clock.Instant) {
	if i == 0 || i == math.MinInt64 {
		w.int(math.MinInt64)
		return
	}
	w.int(int64(min(max(i.Sub(w.now), -w.longest), 2*w.longest)))
}

func (w *canonWriter) value(v reflect.Value) {
	if v.Type() == instant {
		w.instant(clock.Instant(v.Int()))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		w.int(map[bool]int64{false: 0, true: 1}[v.Bool()])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.int(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.out = binary.AppendUvarint(w.out, v.Uint())
	case reflect.String:
		w.int(int64(v.Len()))
		w.out = append(w.out, v.String()...)
	case reflect.Pointer:
		w.pointer(v)
	case reflect.Struct:
		w.fields(v)
	case reflect.Slice, reflect.Array:
		w.int(int64(v.Len()))
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.Map:
		w.entries(v)
	case reflect.Interface:
		w.held(v)
	default:
		panic(fmt.Sprintf("explore: no identity for a %s", v.Type()))
	}
}

func (w *canonWriter) pointer(v reflect.Value) {
	if v.IsNil() {
		w.int(0)
		return
	}
	if n, ok := w.seen[v.UnsafePointer()]; ok {
		w.int(int64(n))
		return
	}
	n := uint64(len(w.seen) + 1)
	w.seen[v.UnsafePointer()] = n
	w.int(int64(n))
	w.value(v.Elem())
}

func (w *canonWriter) fields(v reflect.Value) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		skip := func(fields ignored) bool { return slices.Contains(fields[v.Type()], name) }
		if !slices.ContainsFunc(w.but, skip) {
			w.value(field(v, i))
		}
	}
}

// entries writes a map by the order of its keys.
func (w *canonWriter) entries(v reflect.Value) {
	type entry struct {
		key   []byte
		value reflect.Value
	}
	entries := make([]entry, 0, v.Len())
	for each := v.MapRange(); each.Next(); {
		k := canonWriter{now: w.now, longest: w.longest, but: w.but}
		k.value(addressable(each.Key()))
		entries = append(entries, entry{k.out, addressable(each.Value())})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	w.int(int64(len(entries)))
	for _, e := range entries {
		w.out = append(w.out, e.key...)
		w.value(e.value)
	}
}

func (w *canonWriter) held(v reflect.Value) {
	if v.IsNil() {
		w.int(0)
		return
	}
	name := v.Elem().Type().String()
	w.int(int64(len(name)))
	w.out = append(w.out, name...)
	w.value(addressable(v.Elem()))
}

func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	return to
}
