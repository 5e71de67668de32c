import { type FSWatcher, watch } from 'node:fs';
import { type Certificate, CertificateError, readCertificate } from './certificate.ts';

export interface CertificateWatchOptions {
  readonly directory: string;
  /** The pair in use, so that only another one is a change. */
  readonly current: Certificate;
  readonly onChange: (certificate: Certificate) => void;
  /** The files changed into something that can't be used; the pair in use stays. */
  readonly onProblem: (problem: CertificateError) => void;
  /** How often to look although nothing was heard: some file systems tell nothing. */
  readonly pollMilliseconds: number;
}

/**
 * Follows `tls.crt` and `tls.key` while kubelet or cert-manager replace them. kubelet swaps a symbolic link beside the
 * files, so it is the directory that is watched. Returns a function that ends it.
 */
export function watchCertificate(options: CertificateWatchOptions): () => void {
  const { directory, onChange, onProblem, pollMilliseconds } = options;
  let current = options.current;
  let lastProblem: string | null = null;
  let reading = false;
  let changedMeanwhile = false;
  let ended = false;

  async function look(): Promise<void> {
    changedMeanwhile = reading;
    if (reading || ended) return;
    reading = true;
    const found = await readCertificate(directory).catch((error: unknown) => error);
    reading = false;
    if (ended) return;
    if (changedMeanwhile) return look();
    if (found instanceof CertificateError) {
      if (found.message !== lastProblem) onProblem(found);
      lastProblem = found.message;
      return;
    }
    lastProblem = null;
    const certificate = found as Certificate;
    if (certificate.cert === current.cert && certificate.key === current.key) return;
    current = certificate;
    onChange(certificate);
  }

  const poll = setInterval(() => void look(), pollMilliseconds);
  poll.unref();
  const watcher = watchDirectory(directory, () => void look());
  void look();
  return () => {
    ended = true;
    clearInterval(poll);
    watcher?.close();
  };
}

/** `null` where the system has no watch to give; polling is left then. */
function watchDirectory(directory: string, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watch(directory, { persistent: false }, onEvent);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
