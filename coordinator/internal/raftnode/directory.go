package raftnode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The engine's directory:
//
//	LOCK             locked while the engine runs
//	NODEHOST.ID      which node it belongs to            (see mark.go)
//	dragonboat.ds    deployment and engine constants     (see mark.go)
//	replicas/        logs and snapshots
//	<host name>      a link to replicas
//
// The engine keeps logs and snapshots under the name of the host, and can't
// be told otherwise. The link lets it, while a host that was renamed, or a
// volume that was attached to another host, finds them all the same.
const replicasDir = "replicas"

// reserved are the names in the directory that a link must not take. Some
// file systems take upper and lower case for the same.
var reserved = []string{"LOCK", identityMark, deploymentMark, replicasDir}

// prepareDirectory makes the directory ready for the engine, and refuses one
// that is not this node's. It can be repeated after a crash at any point.
func prepareDirectory(cfg Config) error {
	if err := os.MkdirAll(filepath.Join(cfg.Dir, replicasDir), 0o750); err != nil {
		return fmt.Errorf("raftnode: make the directory: %w", err)
	}
	// What is synced in a directory is lost with the directory's own name.
	if err := syncDir(filepath.Dir(cfg.Dir)); err != nil {
		return err
	}
	host, err := hostName()
	if err != nil {
		return err
	}
	if err := linkHost(cfg.Dir, host); err != nil {
		return err
	}
	return writeMarks(cfg)
}

// checkHostName refuses a name that can't be that of a link.
func checkHostName(host string) error {
	if host == "" || host == "." || host == ".." || strings.ContainsAny(host, `/\`) {
		return fmt.Errorf("%w: %q", ErrHostName, host)
	}
	for _, name := range reserved {
		if strings.EqualFold(name, host) {
			return fmt.Errorf("%w: %q is a name of the engine's files", ErrHostName, host)
		}
	}
	return nil
}

// linkHost makes the link for a host name and removes those of others.
func linkHost(dir, host string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("raftnode: read the directory: %w", err)
	}
	linked := false
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if entry.Type()&os.ModeSymlink == 0 {
			if entry.Name() == host {
				return fmt.Errorf("%w: %s is there, but not as a link to %s", ErrDamaged, path, replicasDir)
			}
			continue
		}
		target, err := os.Readlink(path)
		if err != nil {
			return fmt.Errorf("raftnode: read a link: %w", err)
		}
		if entry.Name() == host && target == replicasDir {
			linked = true
			continue
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("raftnode: remove the link of a former host name: %w", err)
		}
	}
	if !linked {
		if err := os.Symlink(replicasDir, filepath.Join(dir, host)); err != nil {
			return fmt.Errorf("raftnode: link the host name: %w", err)
		}
	}
	return syncDir(dir)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("raftnode: sync the directory: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("raftnode: sync the directory: %w", err)
	}
	return nil
}
