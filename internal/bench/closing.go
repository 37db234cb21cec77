package bench

import "errors"

// closers are what has to be closed, the last one first.
type closers struct{ list []func() error }

func (c *closers) add(closing func() error) { c.list = append(c.list, closing) }

// Close closes everything.
func (c *closers) Close() error {
	var errs []error
	for i := len(c.list) - 1; i >= 0; i-- {
		errs = append(errs, c.list[i]())
	}
	c.list = nil
	return errors.Join(errs...)
}

// after closes everything when err is not nil, and returns all that went wrong.
func (c *closers) after(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, c.Close())
}
