import { dirname } from 'node:path';
import { type Certificate, readCertificate, readClientCA } from './certificate.ts';
import { followFiles } from './follow-files.ts';

export interface WebhookLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface TlsSources {
  /** Has `tls.crt` and `tls.key`. */
  readonly certDir: string;
  /**
   * Certificates in PEM: with it only clients are served whose certificate one of these has issued, such as the API
   * server with a kubeconfig in its `--admission-control-config-file`.
   */
  readonly clientCaFile?: string;
}

/** What connections are made with. */
export interface ServingTls {
  readonly certificate: Certificate;
  /** In PEM; `null`: anybody is served. */
  readonly clientCA: string | null;
}

/** Rejects with a `CertificateError`. */
export async function readTls({ certDir, clientCaFile }: TlsSources): Promise<ServingTls> {
  return {
    certificate: await readCertificate(certDir),
    clientCA: clientCaFile === undefined ? null : await readClientCA(clientCaFile),
  };
}

/** For a server, and for its `setSecureContext`. */
export function secureContext({ certificate: { cert, key }, clientCA }: ServingTls) {
  return { cert, key, minVersion: 'TLSv1.2', ...(clientCA === null ? {} : { ca: clientCA }) } as const;
}

interface FollowedTls {
  readonly sources: TlsSources;
  readonly current: ServingTls;
  readonly pollMilliseconds: number;
  readonly onChange: (found: ServingTls) => void;
  readonly log: WebhookLog;
}

/** Reports every change, each source by itself. Returns a function that stops it. */
export function followTls({ sources, current, pollMilliseconds, onChange, log }: FollowedTls): () => void {
  const { certDir, clientCaFile } = sources;
  let inUse = current;
  const change = (changes: Partial<ServingTls>): void => {
    inUse = { ...inUse, ...changes };
    onChange(inUse);
  };
  const stopCertificate = followFiles({
    directory: certDir,
    read: () => readCertificate(certDir),
    current: current.certificate,
    isSame: (one, other) => one.cert === other.cert && one.key === other.key,
    pollMilliseconds,
    onChange: (certificate) => {
      change({ certificate });
      log.info({ validTo: certificate.validTo.toISOString() }, 'the webhook has a new certificate');
    },
    onProblem: (problem) => log.warn({ error: problem }, 'the webhook keeps its certificate'),
  });
  if (clientCaFile === undefined) return stopCertificate;
  const stopAuthority = followFiles({
    directory: dirname(clientCaFile),
    read: () => readClientCA(clientCaFile),
    current: current.clientCA,
    isSame: (one, other) => one === other,
    pollMilliseconds,
    onChange: (clientCA) => {
      change({ clientCA });
      log.info({}, 'the webhook takes the client certificates of another authority');
    },
    onProblem: (problem) => log.warn({ error: problem }, 'the webhook keeps the authority of its clients'),
  });
  return () => {
    stopCertificate();
    stopAuthority();
  };
}
