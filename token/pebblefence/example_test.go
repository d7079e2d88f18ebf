package pebblefence_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/pebblefence"
)

// A holder that was paused comes back after the next one has written, and the
// next one repeats what was done already.
func Example() {
	db, err := pebble.Open("accounts", &pebble.Options{FS: vfs.NewMem()})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	guard, err := pebblefence.New(pebblefence.Config{DB: db, Prefix: []byte("fence/")})
	if err != nil {
		log.Fatal(err)
	}

	// pay adds to the balance of the account; the token is that of the lease.
	pay := func(fence token.Token, payment token.Operation, amount uint64) (token.Receipt, error) {
		w := token.Write{Resource: "account 7", Token: fence, Operation: payment}
		return guard.Do(context.Background(), w, func(batch *pebble.Batch) ([]byte, error) {
			balance := amount
			switch value, closer, err := batch.Get([]byte("balance/7")); err {
			case nil:
				balance += binary.BigEndian.Uint64(value)
				if err := closer.Close(); err != nil {
					return nil, err
				}
			case pebble.ErrNotFound:
			default:
				return nil, err
			}
			return fmt.Appendf(nil, "balance %d", balance),
				batch.Set([]byte("balance/7"), binary.BigEndian.AppendUint64(nil, balance), nil)
		})
	}

	show := func(receipt token.Receipt, err error) {
		fmt.Printf("%s, token %s, repeated %t, error %v\n", receipt.Value, receipt.Token, receipt.Repeated, err)
	}
	show(pay(33, "payment 1", 10))
	show(pay(34, "payment 2", 5))
	show(pay(33, "payment 3", 99))
	show(pay(34, "payment 1", 10))
	// Output:
	// balance 10, token 33, repeated false, error <nil>
	// balance 15, token 34, repeated false, error <nil>
	// , token 0, repeated false, error token: stale: resource "account 7" refuses token 33, it has accepted 34
	// balance 10, token 33, repeated true, error <nil>
}
