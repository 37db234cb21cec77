package rivals

import (
	"context"
	"net"
	"sync/atomic"
)

// trips counts round trips on connections: each time that something is sent after something was received is one.
type trips struct{ n atomic.Int64 }

func (t *trips) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &counted{Conn: conn, trips: t}, nil
}

type counted struct {
	net.Conn
	trips   *trips
	sending atomic.Bool
}

func (c *counted) Write(b []byte) (int, error) {
	if !c.sending.Swap(true) {
		c.trips.n.Add(1)
	}
	return c.Conn.Write(b)
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.sending.Store(false)
	}
	return n, err
}
