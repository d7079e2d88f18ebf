package raftnode

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lni/dragonboat/v4/raftpb"

	"github.com/palisade-go/palisade/coordinator/internal/raftlog"
)

// The engine marks its directory with two small files, each the last eight
// bytes of the MD5 sum of its content and the content. It does not write them
// atomically: after a crash in its first start it would refuse the directory
// for ever. So they are written here, before the engine looks for them; and
// the one that names the host leaves the name empty, which the engine takes
// for any.
const (
	identityMark   = "NODEHOST.ID"
	deploymentMark = "dragonboat.ds"
	markSum        = 8
)

// writeMarks writes the marks that are missing, and refuses those of another
// cluster or node before the engine makes files in their directory. What the
// engine compares besides is left to it.
func writeMarks(cfg Config) error {
	identity, err := hex.DecodeString(strings.ReplaceAll(cfg.HostID(cfg.Node), "-", ""))
	if err != nil {
		return fmt.Errorf("%w: HostID of node %d: %w", ErrInvalid, cfg.Node, err)
	}
	status := raftpb.RaftDataStatus{
		BinVer:          raftlog.BinaryFormat,
		LogdbType:       raftlog.Name,
		DeploymentId:    cfg.Deployment,
		StepWorkerCount: execShards,
		LogdbShardCount: logStores,
		MaxSessionCount: sessionsMax,
		EntryBatchSize:  entryBatch,
	}
	deployment, err := status.Marshal()
	if err != nil {
		return fmt.Errorf("raftnode: encode %s: %w", deploymentMark, err)
	}
	if err := errors.Join(checkDeployment(cfg), checkIdentity(cfg, identity)); err != nil {
		return err
	}
	return errors.Join(
		writeMark(cfg.Dir, identityMark, identity),
		writeMark(cfg.Dir, deploymentMark, deployment))
}

func checkDeployment(cfg Config) error {
	content, err := readMark(cfg.Dir, deploymentMark)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var status raftpb.RaftDataStatus
	if err := status.Unmarshal(content); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, filepath.Join(cfg.Dir, deploymentMark), err)
	}
	if status.DeploymentId != cfg.Deployment {
		return fmt.Errorf("%w: %s belongs to deployment %d, the configuration says %d",
			ErrDeployment, cfg.Dir, status.DeploymentId, cfg.Deployment)
	}
	if status.LogdbType != raftlog.Name || status.BinVer != raftlog.BinaryFormat {
		return fmt.Errorf("%w: %s was written by log store %q of format %d, this version writes %q of format %d",
			ErrLogStore, cfg.Dir, status.LogdbType, status.BinVer, raftlog.Name, raftlog.BinaryFormat)
	}
	return nil
}

func checkIdentity(cfg Config, identity []byte) error {
	content, err := readMark(cfg.Dir, identityMark)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(content, identity) {
		return fmt.Errorf("%w: %s belongs to the node with host id %x, node %d has %x",
			ErrIdentity, cfg.Dir, content, cfg.Node, identity)
	}
	return nil
}

// readMark returns the content of a mark. It wraps fs.ErrNotExist when there
// is none.
func readMark(dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("raftnode: %w", err)
	}
	if len(data) < markSum || !bytes.Equal(data[:markSum], sumOf(data[markSum:])) {
		return nil, fmt.Errorf("%w: %s: its sum is wrong", ErrDamaged, path)
	}
	return data[markSum:], nil
}

// writeMark writes a mark if there is none. After a crash there is the whole
// mark or none.
func writeMark(dir, name string, content []byte) (err error) {
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("raftnode: write %s: %w", path, err)
		}
	}()
	draft, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	_, err = draft.Write(append(sumOf(content), content...))
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Rename(draft.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func sumOf(content []byte) []byte {
	sum := md5.Sum(content)
	return sum[md5.Size-markSum:]
}
