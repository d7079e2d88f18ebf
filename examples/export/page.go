package main

import (
	"fmt"
	"strings"

	"github.com/palisade-go/palisade/token"
)

// ordersMax is how many orders a page has at most. It bounds a step.
const ordersMax = 100

// order is what the job reads. Orders are only added: what was ordered in error
// is ordered back.
type order struct {
	id       int64
	customer string
	cents    int64
}

// page is what one step writes: the invoices of up to ordersMax orders, and the
// sums of the month up to here, which the next page goes on from. The zero
// value stands before the first page of a month.
type page struct {
	month       string
	step        int   // from 1
	first, last int64 // order ids
	orders      int   // of this page and all before
	cents       int64 // of this page and all before
	document    string
}

// next returns the page of the orders that follow. There is at least one.
func (p page) next(orders []order) page {
	n := page{
		month: p.month, step: p.step + 1,
		first: orders[0].id, last: orders[len(orders)-1].id,
		orders: p.orders + len(orders), cents: p.cents,
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s, page %d\nbrought forward: %d orders, %s\n", n.month, n.step, p.orders, money(p.cents))
	for _, o := range orders {
		text.WriteString(invoice(o))
		n.cents += o.cents
	}
	fmt.Fprintf(&text, "carried forward: %d orders, %s\n", n.orders, money(n.cents))
	n.document = text.String()
	return n
}

// full says whether more orders may follow on another page. A page that is not
// full is the last one, and a later export of the month writes it anew.
func (p page) full() bool { return p.orders == p.step*ordersMax }

// operation names what the step does, and not who does it: an owner that does
// the same step again, of the same orders, gets the receipt of the first.
//
// The orders are in the name because the page depends on them. Were it "step 3"
// alone, an export with one more order would be taken for done already. It is
// enough to name the first and the last because orders are only added; where
// rows change, put their version or a digest into the name.
func (p page) operation() token.Operation {
	return token.Operation(fmt.Sprintf("%s/step %d/orders %d-%d", p.month, p.step, p.first, p.last))
}

// invoice is the line of an order.
func invoice(o order) string {
	return fmt.Sprintf("order %d, %s: %s\n", o.id, o.customer, money(o.cents))
}

func money(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}
