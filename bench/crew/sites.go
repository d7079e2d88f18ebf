package crew

import "errors"

// CloseAll closes the Lockers of some sites; those that are nil were never made.
func CloseAll(sites []*Site) error {
	var errs []error
	for _, s := range sites {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}
