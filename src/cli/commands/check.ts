import { admission, certificates } from '../check/admission-in-force.ts';
import { controllerPolicy } from '../check/controller-policy.ts';
import { enforcedPolicies } from '../check/enforced-policies.ts';
import { type Found, foundBy } from '../check/finding.ts';
import { controller, definitions, kubernetes, moco } from '../check/installation.ts';
import { budgets, claims, manifests } from '../check/member-objects.ts';
import { mocoLease } from '../check/moco-lease.ts';
import { mysql, semiSync } from '../check/mysql.ts';
import { mysqldVersions } from '../check/mysqld-versions.ts';
import { controllerRights, ownRights, preflight } from '../check/rights.ts';
import type { Session } from '../cluster/session.ts';
import { line, table } from '../terminal/lines.ts';
import { outputOption, writeResult } from '../terminal/output.ts';
import { allNamespacesOption, type CliCommand, clusterCommand } from './command.ts';

const checksWith = (commands: readonly CliCommand[]) => ({
  Kubernetes: kubernetes,
  MOCO: moco,
  CRDs: definitions,
  controller,
  'rights of the controller': controllerRights,
  'policies of the controller': controllerPolicy,
  'Lease of MOCO': mocoLease,
  'your rights': (session: Session) => ownRights(session, commands),
  admission,
  certificates,
  'enforced policies': enforcedPolicies,
  PodDisruptionBudgets: budgets,
  manifests,
  PersistentVolumeClaims: claims,
  preflight,
  'MySQL versions': mysqldVersions,
  'semi-sync plugins': semiSync,
  MySQL: mysql,
});

const colours = { ok: 'green', warning: 'yellow', failed: 'red', unknown: 'yellow' } as const;

/** `all` returns every command, because `check` verifies the rights that each command needs. */
export const checkCommand = (all: () => readonly CliCommand[]) =>
  clusterCommand({
    name: 'check',
    arguments: '',
    summary:
      'Check versions, rights, policies, admission, certificates, budgets, manifests, claims, images, MySQL versions, plugins and MySQL',
    help: 'Exits with 1 if a check fails, but not for a warning. A check is unknown if you lack the right to read what it needs. Changes nothing.',
    examples: [['Check before the first rollout, for all namespaces', 'check --all-namespaces']],
    options: { allNamespaces: allNamespacesOption, output: outputOption },
    run: async (session, _, { output }) => {
      const findings: (Found & { readonly about: string })[] = [];
      // The first check shows whether the API server answers at all.
      for (const [about, check] of Object.entries(checksWith(all())))
        findings.push({ about, ...(await foundBy(check, session)) });
      writeResult(session.host, output, findings, () =>
        table(
          ['RESULT', 'CHECK', 'FOUND'],
          findings.map(({ about, result, sentence }) => [line(result, colours[result]), line(about), line(sentence)]),
        ),
      );
      return findings.some(({ result }) => result === 'failed') ? 1 : 0;
    },
  });
