package main

import (
	"fmt"
	"slices"
	"sync"

	"github.com/palisade-go/palisade/token"
)

// bank is accounts that are read and written one by one, as in a store without
// transactions. Only the locks of the accounts keep two transfers apart that
// read the same balance.
type bank struct {
	guard token.Guard // one entry for each account

	mu       sync.Mutex
	balances map[string]int
}

// newBank gives every account the same balance.
func newBank(accounts []string, each int) *bank {
	b := &bank{balances: map[string]int{}}
	for _, account := range accounts {
		b.balances[account] = each
	}
	return b
}

func (b *bank) read(account string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.balances[account]
}

// write replaces a balance, unless a later owner of the account has been here.
func (b *bank) write(account string, t token.Token, balance int) error {
	return b.guard.Do(account, t, func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.balances[account] = balance
		return nil
	})
}

// sum is all the money there is.
func (b *bank) sum() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	total := 0
	for _, balance := range b.balances {
		total += balance
	}
	return total
}

// order is a transfer: from the first account, the amount to each of the rest.
type order struct {
	accounts []string
	amount   int
}

// carryOut makes a transfer for one who owns all its accounts. tokenOf returns
// the fencing token for an account.
//
// All balances are read before the first is written: whoever did this without
// the locks would overwrite what others wrote in between. A lock can't undo:
// if it is lost after the first write, the rest is refused and the transfer
// stays half done. Money needs a transaction or a journal as well.
func (b *bank) carryOut(o order, tokenOf func(string) (token.Token, bool)) error {
	balances := make([]int, len(o.accounts))
	for i, account := range o.accounts {
		balances[i] = b.read(account) + o.amount
	}
	balances[0] -= len(o.accounts) * o.amount
	if balances[0] < 0 {
		return fmt.Errorf("%s does not have %d for each of %s", o.accounts[0], o.amount, o.accounts[1:])
	}
	for i, account := range o.accounts {
		t, owned := tokenOf(account)
		if !owned {
			return fmt.Errorf("%s is written without its lock", account)
		}
		if err := b.write(account, t, balances[i]); err != nil {
			return err
		}
	}
	return nil
}

// orders makes up the transfers of one clerk: count of them, over three
// accounts each. Clerks with even numbers name the accounts upwards, the
// others downwards, and everyone begins with another one: the orders in which
// a naive locker deadlocks.
func orders(accounts []string, clerk, count int) []order {
	list := make([]order, count)
	for i := range list {
		first := clerk + i
		three := make([]string, 3)
		for j := range three {
			three[j] = accounts[(first+j)%len(accounts)]
		}
		if clerk%2 == 1 {
			slices.Reverse(three)
		}
		list[i] = order{accounts: three, amount: 1 + i%3}
	}
	return list
}
