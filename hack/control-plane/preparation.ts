import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AuditLog } from './audit-log.ts';
import { type AuditSettings, auditDefaults, auditPolicy } from './audit-policy.ts';
import { CertificateAuthority, writePrivateKey } from './certificates.ts';
import type { ServerFiles } from './server-flags.ts';

/** Everything that the servers need before the first of them starts. */
export interface Preparation {
  readonly authority: CertificateAuthority;
  /** Of user `admin` in group `system:masters`. */
  readonly adminToken: string;
  /** `null`: nothing is recorded. */
  readonly auditLog: AuditLog | null;
  /** Ports are 0: each server finds its own. */
  readonly files: ServerFiles;
}

/**
 * Writes certificates, the service-account key, the admin's token and the audit policy into `directory`.
 *
 * @param audit what the API server records; `false`: nothing
 */
export async function prepare(directory: string, audit: boolean | Partial<AuditSettings>): Promise<Preparation> {
  const path = (name: string): string => join(directory, name);
  const certificates = path('certificates');
  await mkdir(certificates);
  const authority = await CertificateAuthority.create(certificates);
  const serving = await authority.issue('kube-apiserver', ['127.0.0.1', 'localhost']);
  const serviceAccountKey = join(certificates, 'service-account.key');
  await writePrivateKey(serviceAccountKey);
  const adminToken = randomBytes(16).toString('hex');
  await writeFile(path('tokens.csv'), `${adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 });
  const auditFiles = audit === false ? null : await prepareAudit(directory, audit === true ? {} : audit);
  return {
    authority,
    adminToken,
    auditLog: auditFiles === null ? null : new AuditLog(auditFiles.log),
    files: {
      etcdData: path('etcd'),
      etcdPort: 0,
      apiServerPort: 0,
      authority: authority.bundlePath,
      servingCertificate: serving.certificate,
      servingKey: serving.key,
      serviceAccountKey,
      tokens: path('tokens.csv'),
      controllerManagerKubeconfig: path('kube-controller-manager.kubeconfig'),
      audit: auditFiles,
    },
  };
}

async function prepareAudit(
  directory: string,
  settings: Partial<AuditSettings>,
): Promise<NonNullable<ServerFiles['audit']>> {
  const policy = join(directory, 'audit-policy.json');
  const log = join(directory, 'audit.log');
  await writeFile(policy, JSON.stringify(auditPolicy({ ...auditDefaults, ...settings })));
  await writeFile(log, '', { mode: 0o600 });
  return { policy, log };
}
