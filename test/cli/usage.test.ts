import { expect } from 'chai';
import { commands } from '../../src/cli/run.ts';
import { fails } from './failing-member.ts';
import { type FakeCluster, runWith, useFakeCluster } from './fake-cluster.ts';

const duration = 'a duration above zero such as 15s, 1m30s or 500ms';
const noName = 'mysqlclusters.moco.cybozu.com "" not found: no object can have this name';
const pod = "the name of a member's pod such as moco-test-2";
const empty = (option: string): string => `expected a value after --${option}, got an empty text`;

/** Words in quotes may be empty or have spaces. With these lines a command exits with 2 and names its help. */
const misused: Readonly<Record<string, string>> = {
  stats: "unknown command 'stats' (Did you mean status?)",
  'help stats': 'expected a command after help, got `stats` (did you mean status?)',
  '-n': 'expected a command, got `-n`',
  '-n default': 'expected a command, got `-n default`',
  '-x status': "unknown option '-x'",
  'status --wathc': "unknown option '--wathc' (Did you mean --watch?)",
  'status --held=yes': "unknown option '--held=yes'",
  'status -o xml': 'expected --output to be wide, name, json or yaml, got `xml`',
  'status -o jsonpath={.a}': 'expected --output to be wide, name, json or yaml, got `jsonpath={.a}`',
  'status -w -o json': 'expected either --watch or -o json, got both',
  'status --request-timeout=x': `expected --request-timeout to be ${duration}, got \`x\``,
  'status --request-timeout=99999999h':
    'expected --request-timeout to be a duration of at most 87600h, got `99999999h`',
  'status --server 127.0.0.1:6443':
    'expected --server to be an https address such as https://127.0.0.1:6443, got `127.0.0.1:6443`',
  "status --context ''": empty('context'),
  "status --kubeconfig ' '": empty('kubeconfig'),
  "status -n ''": empty('namespace'),
  'status -n ../x': 'expected --namespace to be the name of a namespace, got `../x`',
  "status -l ''": empty('selector'),
  'status test --held': '--held, --needs-person and --stale filter a list and cannot be combined with names',
  'get test -l a=b': 'expected either names or --selector, got both',
  'status test -A': 'expected either names or -A, got both',
  'sequence a b': 'expected at most 1 argument, got 2: a, b',
  'sequence -w -o json': 'expected either --watch or -o json, got both',
  plan: 'expected a NAME or --fleet, got neither',
  'plan test --fleet': 'expected either a NAME or --fleet, got both',
  'plan test -A': 'expected --fleet with --all-namespaces, got a NAME',
  'plan test -l a=b': 'expected --fleet with --selector, got a NAME',
  'plan test --disruption-interval=1m': 'expected --fleet with --disruption-interval, got a NAME',
  'plan test -o wide': 'expected --output to be json or yaml without --fleet, got `wide`',
  'plan test -f x': 'expected either a NAME or --filename, got both',
  "plan -f ''": empty('filename'),
  'plan --node=a --fleet': 'expected either --node or --fleet, got both',
  'plan test --node=a': 'expected either --node or a NAME, got both',
  'plan -f /nowhere.yaml': 'expected --filename to be a file of manifests, got `/nowhere.yaml`: no such file',
  'plan --fleet -A -n default': 'expected either --namespace or --all-namespaces, got both',
  'plan --fleet -o name': 'expected --output to be json, yaml or wide, got `name`',
  'plan --fleet --max-concurrent-rollouts=few':
    'expected --max-concurrent-rollouts to be a whole number from 0 to 100000, got `few`',
  'plan --fleet --max-concurrent-rollouts=-1':
    'expected --max-concurrent-rollouts to be a whole number from 0 to 100000, got `-1`',
  'plan --fleet --disruption-interval=-1s':
    'expected --disruption-interval to be a duration such as 15s, 1m30s or 500ms, or 0 for none, got `-1s`',
  'plan test --assume=': empty('assume'),
  'plan test --assume ,': 'expected --assume to name a setting such as paused=false, got `,`',
  'plan test --assume =true': 'expected --assume to name a setting such as paused=false, got ``',
  'plan test --assume paused': 'expected --assume.paused to be true or false, got ""',
  'plan test --assume pausd=true':
    'expected --assume to name a setting such as paused=false, got `pausd` (did you mean paused?)',
  'plan test --assume paused=true,paused=false': 'expected --assume to contain each setting once, got paused twice',
  'plan test --assume paused=a=b': 'expected --assume.paused to be true or false, got "a=b"',
  'plan test --assume maxUnavailable=0':
    'expected --assume.maxUnavailable to be a whole number from 1 to 1000, or a percentage from "1%" to "100%", got 0',
  'plan test --assume pinnedMembers=x':
    'expected --assume.pinnedMembers[0].ordinal to be a whole number from 0 to 999, got "x"',
  'plan test --assume partition=1e9':
    'expected --assume.partition to be a whole number from 0 to 2147483647, got "1e9"',
  'plan test --assume pinnedMembers=1+1':
    'expected --assume.pinnedMembers[1].ordinal to be different from every other ordinal in the list, got 1',
  wait: 'expected a NAME, --selector or --all, got none of them',
  'wait -A': 'expected a NAME, --selector or --all, got none of them',
  'wait test --all': 'expected either names or --all, got both',
  'wait --all -l a=b': 'expected either --selector or --all, got both',
  "wait test --timeout ''": empty('timeout'),
  'wait test --timeout=soon': `expected --timeout to be ${duration}, got \`soon\``,
  'wait test --timeout=-5m': `expected --timeout to be ${duration}, got \`-5m\``,
  'wait test --timeout=99999999999h': 'expected --timeout to be a duration of at most 87600h, got `99999999999h`',
  "explain ''": 'expected the name of a rule, got ``',
  'explain BackupRuning': 'expected the name of a rule, got `BackupRuning` (did you mean BackupRunning?)',
  'explain Nonsense-of-mine -o json': 'expected the name of a rule, got `Nonsense-of-mine`',
  'explain Paused Released': 'expected at most 1 argument, got 2: Paused, Released',
  'explain Paused -o wide': 'expected --output to be json or yaml, got `wide`',
  'explain -n default': "unknown option '-n'",
  "history test --revision ''": empty('revision'),
  'history test --revision': 'expected a value after --revision, got none',
  "undo test --to-revision ''": empty('to-revision'),
  undo: 'expected a NAME, --selector or --all, got none of them',
  'undo --all -o json': 'expected one NAME with --output=json, got several clusters',
  report: 'expected a NAME or --fleet, got neither',
  'report test --fleet': 'expected either a NAME or --fleet, got both',
  'report test --since=1h': 'expected --fleet with --since, got a NAME',
  'report test -A': 'expected --fleet with --all-namespaces, got a NAME',
  'report test x': 'expected at most 1 argument, got 2: test, x',
  'report --fleet --since=soon': `expected --since to be ${duration}, got \`soon\``,
  'report --fleet --since=999999999h': 'expected --since to be a duration of at most 87600h, got `999999999h`',
  "report --fleet -l ''": empty('selector'),
  pause: 'expected a NAME, --selector or --all, got none of them',
  "pause -l ''": empty('selector'),
  'pause test --all': 'expected either names or --all, got both',
  'pause -l a=b --all': 'expected either --selector or --all, got both',
  'pause --all -A -n default': 'expected either --namespace or --all-namespaces, got both',
  'pause test --for long': `expected --for to be ${duration}, got \`long\``,
  [`pause test --reason ${'x'.repeat(257)}`]: 'expected --reason to have at most 256 characters, got 257',
  freeze: 'expected --reason, so that other people understand the freeze, got none',
  "freeze --reason ' '": empty('reason'),
  [`freeze --reason ${'x'.repeat(257)}`]: 'expected --reason to have at most 256 characters, got 257',
  'freeze test --reason x': 'expected no arguments, got test',
  'freeze --reason x --for long': `expected --for to be ${duration}, got \`long\``,
  'freeze -n A_b --reason x': 'expected --namespace to be the name of a namespace, got `A_b`',
  'unfreeze test': 'expected no arguments, got test',
  'resume test -A': 'expected either names or -A, got both',
  approve: 'expected a NAME, got none',
  'approve test x': 'expected at most 1 argument, got 2: test, x',
  "approve test --revision ''": empty('revision'),
  pin: 'expected a MEMBER, got none',
  'pin moco-test-1': 'expected --reason, so that other people understand the pin, got none',
  "pin moco-test-1 --reason ' '": empty('reason'),
  'pin test --reason x': `expected ${pod}, got \`test\``,
  'pin moco-test-1 -A --reason x': "unknown option '-A'",
  unpin: 'expected a MEMBER, got none',
  'unpin test': `expected ${pod}, got \`test\``,
  override: 'expected a NAME, got none',
  'override test --for 1m --reason x': 'expected a RULE to override, got none',
  "override test ''": 'expected the name of a rule, got ``',
  'override test Paused --for 1m --reason x':
    'expected a rule that can be overridden, got Paused, which cannot; see `kubectl moco-rollout explain Paused`',
  'override test BackupRuning --for 1m --reason x':
    'expected the name of a rule, got `BackupRuning` (did you mean BackupRunning?)',
  'override test BackupRunning': 'expected --for and --reason, got no --for',
  'override test BackupRunning --reason x': 'expected --for and --reason, got no --for',
  'override test BackupRunning --for 1m': 'expected --for and --reason, got no --reason',
  "override test BackupRunning --for 1m --reason ' '": empty('reason'),
  'override test BackupRunning --for': 'expected a value after --for, got none',
  'override test BackupRunning --for long --reason x': `expected --for to be ${duration}, got \`long\``,
  'override test BackupRunning --for -1m --reason x': `expected --for to be ${duration}, got \`-1m\``,
  'override test BackupRunning --for 999999999999h --reason x':
    'expected --for to be a duration of at most 87600h, got `999999999999h`',
  'override test BackupRunning Paused --for 1m --reason x':
    'expected at most 2 arguments, got 3: test, BackupRunning, Paused',
  'override test BackupRunning --clear --for 1m': 'expected either --clear, or --for and --reason, got both',
  'override test --clear=yes': "unknown option '--clear=yes'",
  restore: 'expected a MEMBER, got none',
  'restore test': `expected ${pod}, got \`test\``,
  "restore ''": `expected ${pod}, got \`\``,
  'restore moco-test-01': `expected ${pod}, got \`moco-test-01\``,
  'restore moco-test-2 moco-test-1 --yes': 'expected at most 1 argument, got 2: moco-test-2, moco-test-1',
  'restore moco-test-2 --yes=no': "unknown option '--yes=no' (Did you mean --yes?)",
  unrestore: 'expected a MEMBER, got none',
  'unrestore test': `expected ${pod}, got \`test\``,
  release: 'expected a NAME, --selector or --all, got none of them',
  "release -l ''": empty('selector'),
  'release test --all': 'expected either names or --all, got both',
  'release -A': 'expected a NAME, --selector or --all, got none of them',
  'release test -A': 'expected either names or -A, got both',
  'release test --timeout 0': `expected --timeout to be ${duration}, got \`0\``,
  'release test --include-paused=yes': "unknown option '--include-paused=yes'",
  adopt: 'expected a NAME, --selector or --all, got none of them',
  "adopt -l ''": empty('selector'),
  'check x': 'expected no arguments, got x',
  'check -A -n default': 'expected either --namespace or --all-namespaces, got both',
  'check -o': 'expected a value after --output, got none',
  "check -o ''": empty('output'),
  'check -o wide': 'expected --output to be json or yaml, got `wide`',
  'check -n Default': 'expected --namespace to be the name of a namespace, got `Default`',
  diagnose: 'expected a NAME, got none',
  'diagnose test orders': 'expected at most 1 argument, got 2: test, orders',
  "diagnose test --directory ''": empty('directory'),
  'completion bash': 'expected no arguments, got bash',
  'completion -n default': "unknown option '-n'",
};

/** What is written well and still can't be done exits with 1. */
const refused: Readonly<Record<string, string>> = {
  "status ''": noName,
  "wait ''": noName,
  "release ''": noName,
  "report ''": noName,
  "diagnose ''": noName,
  'diagnose ../x': 'mysqlclusters.moco.cybozu.com "../x" not found: no object can have this name',
  "override '' BackupRunning --for 1m --reason x": noName,
  "sequence ''": 'mysqlrolloutsequences.moco-rollout.io "" not found: there are no sequences',
  'restore moco-Test-2': 'mysqlclusters.moco.cybozu.com "Test" not found: no object can have this name',
  'restore moco-test-99999999999999999999':
    'pods "moco-test-99999999999999999999" not found: test has 3 members, the last of them moco-test-2',
  'pin moco-test-3 --reason x': 'pods "moco-test-3" not found: test has 3 members, the last of them moco-test-2',
  'approve test --revision 99':
    'the update revision of test is 7966559688 now, not 99; see `kubectl moco-rollout plan test -n default`',
  'history test --revision -1': 'revision -1 is no longer kept; existing revisions: none',
};

const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

describe('commands with bad arguments', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
    fails(cluster);
  });

  for (const [status, lines] of [
    [2, misused],
    [1, refused],
  ] as const) {
    for (const [line, sentence] of Object.entries(lines)) {
      it(`exits with ${status} and one sentence for \`${line}\``, async () => {
        const ran = await cluster.run(...wordsOf(line));
        const [, said, help] = /^error: ([^\n]*?)(; see `kubectl moco-rollout [a-z]* ?--help`)?\n$/.exec(ran.err) ?? [];
        expect([ran.status, ran.out, said ?? ran.err]).to.deep.equal([status, '', sentence]);
        expect(help !== undefined).to.equal(status === 2);
        expect(cluster.server.writes).to.deep.equal([]);
      });
    }
  }

  it('checks arguments before it reads the kubeconfig, for every command', async () => {
    const late: string[] = [];
    for (const line of Object.keys(misused)) {
      const { status } = await runWith({ KUBECONFIG: '/nowhere/config' }, wordsOf(line));
      if (status !== 2) late.push(line);
    }
    expect(late).to.deep.equal([]);
    const first = new Set(Object.keys(misused).map((line) => line.split(' ', 1)[0]));
    expect(commands.map(({ name }) => name).filter((name) => !first.has(name))).to.deep.equal([]);
  });
});
