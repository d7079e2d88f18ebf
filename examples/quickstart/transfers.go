package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/coordinator"
)

const (
	clerks        = 6 // two on each node
	transfersEach = 8
	balanceEach   = 1000
)

// transferMoney shows several keys at once, all or none, without deadlock.
func (s *story) transferMoney(ctx context.Context) error {
	accounts := []string{"account/ada", "account/ben", "account/cleo", "account/dan", "account/eve", "account/fay"}
	spread, err := s.groupsOf(ctx, accounts)
	if err != nil {
		return err
	}
	if spread < 2 {
		return fmt.Errorf("all accounts are in %d group", spread)
	}
	b := newBank(accounts, balanceEach)
	before := b.sum()
	s.tell("The bank has %d accounts. Their keys are spread over %d Raft groups.", len(accounts), spread)

	// A deadlock would end here, and so does the work of all with the first
	// error.
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ended := make(chan error, clerks)
	for clerk := range clerks {
		go func() {
			err := s.clerk(ctx, clerk, b, orders(accounts, clerk, transfersEach))
			if err != nil {
				cancel()
			}
			ended <- err
		}()
	}
	var failed []error
	for range clerks {
		failed = append(failed, <-ended)
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	s.tell("%d clerks on three nodes took three accounts for each transfer, naming them in opposing orders.", clerks)
	s.tell("They made all %d transfers: nobody deadlocked.", clerks*transfersEach)

	if after := b.sum(); after != before {
		return fmt.Errorf("there were %d in the bank, now there are %d", before, after)
	}
	s.tell("All accounts together still have %d.", before)
	return nil
}

// groupsOf counts the groups that the keys belong to.
func (s *story) groupsOf(ctx context.Context, keys []string) (int, error) {
	found := map[int]bool{}
	for _, key := range keys {
		err := waitUntil(ctx, "the key can be looked at", func() (bool, error) {
			info, err := s.cluster.node(1).Inspect(ctx, key)
			if err == nil {
				found[info.Group] = true
			}
			return true, err
		})
		if err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

// clerk makes transfers, one after the other. DoAll owns all accounts of a
// transfer or none, and takes them in an order of its own.
func (s *story) clerk(ctx context.Context, number int, b *bank, list []order) error {
	node := s.cluster.node(members[number%len(members)])
	for i, o := range list {
		err := node.DoAll(ctx, o.accounts, func(_ context.Context, set *coordinator.LeaseSet) error {
			return b.carryOut(o, set.Token)
		})
		if err != nil {
			return fmt.Errorf("clerk %d, transfer %d: %w", number, i+1, err)
		}
	}
	return nil
}
