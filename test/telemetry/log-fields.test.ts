import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { isCallExpression, type Node } from 'typescript/unstable/ast';
import { API, type Checker } from 'typescript/unstable/sync';
import { logFields } from '../../src/telemetry/log.ts';

const logCall = /(?:^|[.#])log(?:\.(?:debug|info|warn|error)|\[[\w.]+\])$/;

interface Logged {
  /** `file:line` */
  readonly at: string;
  readonly fields: readonly string[];
}

/** Every call of a logger in the program and the fields of its line, spread ones included, as the compiler sees them. */
async function everyLine(): Promise<readonly Logged[]> {
  const api = new API({ cwd: process.cwd() });
  try {
    const config = resolve('tsconfig.json');
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (!project) throw new Error(`Expected a project in ${config}`);
    const found: Logged[] = [];
    for await (const file of glob('src/**/*.ts')) {
      const tree = project.program.getSourceFile(resolve(file));
      if (tree) found.push(...linesOf(tree, file, readFileSync(file, 'utf8'), project.checker));
    }
    return found;
  } finally {
    api.close();
  }
}

function linesOf(tree: Node, file: string, source: string, checker: Checker): readonly Logged[] {
  const found: Logged[] = [];
  const visit = (node: Node): void => {
    if (isCallExpression(node) && logCall.test(source.slice(node.expression.getStart(), node.expression.end))) {
      const at = `${file}:${source.slice(0, node.getStart()).split('\n').length}`;
      const [first] = node.arguments;
      const type = first && checker.getTypeAtLocation(first);
      const fields = type ? checker.getPropertiesOfType(type).map(({ name }) => name) : [];
      const isEmpty = first !== undefined && source.slice(first.getStart(), first.end) === '{}';
      found.push({ at, fields: fields.length === 0 && !isEmpty ? ['fields that the compiler can not see'] : fields });
    }
    node.forEachChild(visit);
  };
  visit(tree);
  return found;
}

describe('the vocabulary of log lines', () => {
  let lines: readonly Logged[];

  before(async () => {
    lines = await everyLine();
  });

  it('is seen by these tests', () => {
    expect(lines.length).to.be.above(20);
    expect(lines.find(({ at }) => at.startsWith('src/kube/lease-elector.ts'))?.fields).to.include('lease');
    expect(lines.flatMap(({ fields }) => fields)).to.include.members(['cluster', 'step', 'rule', 'member', 'error']);
  });

  it('has every field that the program writes', () => {
    const strangers = lines.flatMap(({ at, fields }) =>
      fields.filter((field) => !(field in logFields)).map((field) => `${at}: ${field}`),
    );
    expect(strangers, 'a field for src/telemetry/log.ts and docs/reference.md').to.deep.equal([]);
  });

  it('has no field that the program does not write', () => {
    const written = new Set(lines.flatMap(({ fields }) => fields));
    expect(Object.keys(logFields).filter((field) => !written.has(field))).to.deep.equal([]);
  });
});
