import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareAudit } from './audit-files.ts';
import { AuditLog } from './audit-log.ts';
import { type AuditSettings, auditDefaults, auditPolicy } from './audit-policy.ts';
import { rightsFolder, rightsPolicy } from './audit-rights.ts';
import { CertificateAuthority, writePrivateKey } from './certificates.ts';
import type { ServerFiles } from './server-flags.ts';

/** Everything that the servers need before the first of them starts. */
export interface Preparation {
  readonly ca: CertificateAuthority;
  /** Of user `admin` in group `system:masters`. */
  readonly adminToken: string;
  /** `null`: nothing is recorded, or nothing but what a whole run asks for. */
  readonly auditLog: AuditLog | null;
  /** Ports are 0: each server finds its own. */
  readonly files: ServerFiles;
}

/**
 * Writes certificates, the service-account key, the admin's token and the audit policy into `directory`.
 *
 * @param audit what the API server records; `false`: nothing, but for what a whole run of the tests asks for
 */
export async function prepare(directory: string, audit: boolean | Partial<AuditSettings>): Promise<Preparation> {
  const path = (name: string): string => join(directory, name);
  const certificates = path('certificates');
  await mkdir(certificates);
  const ca = await CertificateAuthority.create(certificates);
  const serving = await ca.issue('kube-apiserver', ['127.0.0.1', 'localhost']);
  const serviceAccountKey = join(certificates, 'service-account.key');
  await writePrivateKey(serviceAccountKey);
  const adminToken = randomBytes(16).toString('hex');
  await writeFile(path('tokens.csv'), `${adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 });
  const policy = policyFor(audit);
  const auditFiles = policy === null ? null : await prepareAudit(directory, policy);
  return {
    ca,
    adminToken,
    auditLog: audit === false || auditFiles === null ? null : new AuditLog(auditFiles.log),
    files: {
      etcdData: path('etcd'),
      etcdPort: 0,
      apiServerPort: 0,
      ca: ca.bundlePath,
      servingCertificate: serving.certificate,
      servingKey: serving.key,
      serviceAccountKey,
      tokens: path('tokens.csv'),
      controllerManagerKubeconfig: path('kube-controller-manager.kubeconfig'),
      audit: auditFiles,
    },
  };
}

/** `null`: there is nothing to record. */
function policyFor(audit: boolean | Partial<AuditSettings>): Readonly<Record<string, unknown>> | null {
  if (audit === false) return rightsFolder() === null ? null : rightsPolicy;
  return auditPolicy({ ...auditDefaults, ...(audit === true ? {} : audit) });
}
