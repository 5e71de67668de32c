import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { load } from 'js-yaml';
import { check } from 'recheck';
import { isNewExpression, isRegularExpressionLiteral, type Node } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

// JavaScript matches by backtracking. A pattern that takes more than linear time lets whoever writes the text stop the
// program: 500 KB of an agent's metrics once took minutes. So no pattern of the program may, whatever its text is.

interface Pattern {
  readonly source: string;
  readonly flags: string;
  readonly where: string;
}

/** Patterns whose text comes from the person who has started the process alone: its arguments and environment. */
const ofTheProcess: Readonly<Record<string, readonly string[]>> = {
  'src/options/flag.ts': [String.raw`\/+$`, String.raw`\/\/.*@`],
  'src/options/options.ts': [String.raw`Did you mean (?:one of )?(.*)\?\)`],
  'src/kube/proxy-environment.ts': [String.raw`^(?:\[(.+)\]|([^:]+|.*:.*:.*?))(?::(\d+))?$`],
  'src/cli/run.ts': [
    String.raw`^too many arguments for .*\. Expected 0 arguments but got \d+: (.*)\.$`,
    String.raw`^too many arguments for .*\. Expected (.*) but got (.*)\.$`,
    String.raw`^option '.*?(--[\w-]+).*' argument missing$`,
  ],
};

const minuteMilliseconds = 60_000;
const checkMilliseconds = 5 * minuteMilliseconds;

/**
 * Large patterns are judged by fuzzing, which counts steps of an engine of recheck's own and now and then takes a linear
 * one for a slow one. Then the automaton decides, which takes a minute.
 */
async function judged(source: string, flags: string): ReturnType<typeof check> {
  const found = await check(source, flags, { timeout: checkMilliseconds });
  if (found.status === 'safe' || found.checker !== 'fuzz') return found;
  return check(source, flags, { timeout: checkMilliseconds, checker: 'automaton' });
}

/** Every literal of the program, and where it makes a pattern from a string. */
async function patternsOf(): Promise<{ readonly literals: readonly Pattern[]; readonly made: readonly string[] }> {
  const api = new API({ cwd: process.cwd() });
  const literals: Pattern[] = [];
  const made: string[] = [];
  try {
    const config = resolve('tsconfig.json');
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (!project) throw new Error(`Expected a project in ${config}`);
    for await (const file of glob('src/**/*.ts')) {
      const text = readFileSync(file, 'utf8');
      const visit = (node: Node): void => {
        const words = text.slice(node.getStart(), node.end);
        if (isRegularExpressionLiteral(node)) {
          const end = words.lastIndexOf('/');
          literals.push({ source: words.slice(1, end), flags: words.slice(end + 1), where: file });
        } else if (isNewExpression(node) && words.startsWith('new RegExp(')) made.push(file);
        node.forEachChild(visit);
      };
      const tree = project.program.getSourceFile(resolve(file));
      if (tree) visit(tree);
    }
  } finally {
    api.close();
  }
  return { literals, made };
}

/** The patterns of the settings, as the CRDs have them: JavaScript matches the same. */
async function patternsOfSettings(): Promise<readonly Pattern[]> {
  const found = new Map<string, Pattern>();
  const add = (given: string, where: string): void => {
    const source = given.replaceAll('(?i:', '(?:');
    found.set(given, { source, flags: source === given ? '' : 'i', where });
  };
  for await (const file of glob('config/crd/*_*.yaml')) {
    const visit = (value: unknown, field: string): void => {
      if (typeof value === 'object' && value !== null) {
        for (const [name, part] of Object.entries(value)) visit(part, name);
      } else if (typeof value === 'string' && field === 'pattern') add(value, file);
      else if (typeof value === 'string' && field === 'rule') {
        for (const [, source = ''] of value.matchAll(/matches\('([^']+)'\)/g))
          add(source.replaceAll('\\\\', '\\'), file);
      }
    };
    visit(load(readFileSync(file, 'utf8')), '');
  }
  return [...found.values()];
}

describe('the patterns of the program', () => {
  let literals: readonly Pattern[];
  let made: readonly string[];
  let settings: readonly Pattern[];

  before(async () => {
    ({ literals, made } = await patternsOf());
    settings = await patternsOfSettings();
  });

  it('are literals, but for those of settings, which the CRDs have as well', () => {
    expect(made.filter((file) => !file.startsWith('src/api/'))).to.deep.equal([]);
    expect(literals.length).to.be.greaterThan(50);
    expect(settings.length).to.be.greaterThan(5);
  });

  it('take linear time for any text that is not of the process itself', async () => {
    const unique = new Map([...literals, ...settings].map((one) => [`/${one.source}/${one.flags}`, one]));
    const slow: string[] = [];
    for (const [literal, { source, flags, where }] of unique) {
      if (ofTheProcess[where]?.includes(source)) continue;
      const found = await judged(source, flags);
      if (found.status === 'safe') continue;
      const why = found.status === 'vulnerable' ? `${found.complexity.summary} ${found.attack.pattern}` : found.status;
      slow.push(`${where}: ${literal} ${why}`);
    }
    expect(slow).to.deep.equal([]);
  });

  it('that are listed as exceptions still exist', () => {
    const listed = Object.entries(ofTheProcess).flatMap(([where, all]) => all.map((source) => `${where} ${source}`));
    expect(literals.map(({ where, source }) => `${where} ${source}`)).to.include.members(listed);
  });

  it('would not pass with a pattern that takes quadratic time', async () => {
    expect(await judged(String.raw`(\w+)="`, 'g')).to.include({ status: 'vulnerable' });
  });
});
