import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { configDirectory } from '../config/manifests.ts';
import { until } from '../support/control-plane/until.ts';
import { goTool } from '../support/go-tools/build.ts';
import { useControlPlane } from './control-plane-fixture.ts';
import { type Checked, clusters, writtenByController } from './gitops-objects.ts';

const run = promisify(execFile);

interface HealthExpressions {
  readonly apiVersion: string;
  readonly kind: string;
  readonly inProgress?: string;
  readonly failed?: string;
  readonly current: string;
}

interface Thing {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly generation?: number };
  readonly status?: object;
}

interface Question {
  readonly what: string;
  readonly verdict: string;
  readonly expression: string;
}

/** A value as CEL writes it, of any type inside. */
function cel(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => `dyn(${cel(one)})`).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}: dyn(${cel(field)})`).join(', ')}}`;
}

/** A value as Lua writes it. */
function lua(value: unknown): string {
  if (value === null || value === undefined) return 'nil';
  if (Array.isArray(value)) return `{${value.map(lua).join(', ')}}`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, field]) => `[${JSON.stringify(key)}] = ${lua(field)}`)
    .join(', ')}}`;
}

describe('the health checks for GitOps', () => {
  const controlPlane = useControlPlane();
  let glua: string;
  let rollouts: Readonly<Record<string, Checked>>;
  let checksOfArgo: Readonly<Record<string, string>>;
  let checksOfFlux: readonly HealthExpressions[];

  before(async () => {
    glua = await goTool('glua');
    const written = await writtenByController();
    ({ rollouts } = written);
    const [condition] = written.conditions;
    expect(condition, 'the condition that the checks read is the one that the controller writes').to.include({
      status: 'True',
    });
    const config = async (path: string): Promise<unknown> => parse(await readFile(join(configDirectory, path), 'utf8'));
    ({ data: checksOfArgo } = (await config('gitops/argo-cd/argocd-cm.yaml')) as { data: Record<string, string> });
    const { spec } = (await config('gitops/flux/kustomization.yaml')) as {
      spec: { healthCheckExprs: readonly HealthExpressions[] };
    };
    checksOfFlux = spec.healthCheckExprs;
  });

  after(() => controlPlane().kubectl('delete', 'validatingadmissionpolicy,validatingadmissionpolicybinding', 'asks'));

  it('of Argo CD report the state of a MySQLCluster', async () => {
    for (const [what, { object, argo }] of Object.entries(clusters)) {
      expect(await health('moco.cybozu.com_MySQLCluster', object), what).to.equal(argo);
    }
  });

  it('of Argo CD report the state of a MySQLRollout', async () => {
    expect(Object.keys(rollouts)).to.have.length(7);
    for (const [what, { object, argo }] of Object.entries(rollouts)) {
      expect(await health('moco-rollout.io_MySQLRollout', object), what).to.equal(argo);
    }
  });

  it('of Flux report the state of both', async () => {
    const all = { ...clusters, ...rollouts };
    const questions = Object.entries(all).flatMap(([what, { object }]) => expressionsFor(what, object as Thing));
    const yes = await evaluated(questions);
    for (const [what, { flux }] of Object.entries(all)) {
      // In Flux' order: the first expression that is true.
      const first = questions.find((question, index) => question.what === what && yes.has(index));
      expect(first?.verdict ?? 'waiting', what).to.equal(flux);
    }
  });

  /** As Argo CD runs it: the check is a chunk of Lua that finds `obj` and returns a table. */
  async function health(key: string, object: object): Promise<string> {
    const check = checksOfArgo[`resource.customizations.health.${key}`];
    const script = join(controlPlane().directory, 'check.lua');
    const chunk = `obj = ${lua(object)}\nlocal hs = (function()\n${check}\nend)()\n`;
    await writeFile(script, `${chunk}assert(hs.message == nil or type(hs.message) == "string")\nprint(hs.status)\n`);
    const { stdout } = await run(glua, [script]);
    return stdout.trim();
  }

  function expressionsFor(what: string, object: Thing): readonly Question[] {
    const checks = checksOfFlux.find(
      ({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind,
    );
    if (checks === undefined) throw new Error(`expected expressions for ${object.apiVersion} ${object.kind}, got none`);
    const order = { InProgress: checks.inProgress, Failed: checks.failed, Current: checks.current };
    const { generation } = object.metadata;
    return Object.entries(order).flatMap(([verdict, expression]) => {
      // A field that isn't there ends Flux' look without an answer.
      const whole = `[dyn(${cel(object.status ?? {})})].exists(status, [dyn(${cel({ generation })})].exists(metadata, ${expression}))`;
      return expression === undefined ? [] : [{ what, verdict, expression: whole }];
    });
  }

  /**
   * Which of the expressions are true. The API server evaluates CEL with the library that Flux has: a policy warns by
   * each that is.
   */
  async function evaluated(questions: readonly Question[]): Promise<ReadonlySet<number>> {
    const validations = questions.map(({ expression }, index) => ({
      expression: `!(${expression})`,
      message: `yes to ${index}.`,
    }));
    const metadata = { name: 'asks' };
    const file = await controlPlane().fileOf(
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata,
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
            ],
          },
          validations: [...validations, { expression: 'false', message: 'in force' }],
        },
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata,
        spec: { policyName: 'asks', validationActions: ['Warn'] },
      },
    );
    await controlPlane().kubectl('apply', '--server-side', '-f', file);
    const ask = async (): Promise<string | undefined> => {
      const flags = [
        '--kubeconfig',
        controlPlane().adminKubeconfig,
        'create',
        'configmap',
        'asked',
        '--dry-run=server',
      ];
      const env = { HOME: controlPlane().directory };
      const { stderr } = await run(controlPlane().binaries.kubectl, flags, { env });
      return stderr.includes('in force') ? stderr : undefined;
    };
    const said = await until('the policy is in force', ask);
    return new Set([...said.matchAll(/yes to (\d+)\./g)].map(([, index]) => Number(index)));
  }
});
