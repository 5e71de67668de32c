import { expect } from 'chai';
import { definitions, type Schema } from '../../hack/crd.ts';
import { statusLimits } from '../../src/controller/status/status-limits.ts';

interface Field {
  readonly path: string;
  readonly schema: Schema;
}

const kinds = ['MySQLRolloutPolicy', 'MySQLRolloutSequence', 'MySQLRollout'];

describe('the CRDs', () => {
  for (const kind of kinds) {
    describe(`of ${kind}`, () => {
      const { schema, columns } = definitionOf(kind);
      const fields = fieldsOf(schema);
      const pathsWhere = (matches: (schema: Schema) => boolean): readonly string[] =>
        fields.filter((field) => matches(field.schema)).map(({ path }) => path);

      it('describe every field in a sentence', () => {
        // The API server describes metadata itself and refuses another description.
        const described = fields.filter(({ path }) => path !== '.metadata');
        const undescribed = described.filter((field) => !field.schema.description?.trim().endsWith('.'));
        expect(undescribed.map(({ path }) => path)).to.deep.equal([]);
      });

      it('have no word that YAML 1.1 reads as true or false, as kubectl does', () => {
        const ofSpec = fields.filter(({ path }) => path.startsWith('.spec'));
        const isNoWord = (word: unknown): boolean => /^(y|yes|n|no|true|false|on|off)$/i.test(String(word));
        expect(ofSpec.filter(({ schema: { enum: words = [] } }) => words.some(isNoWord))).to.deep.equal([]);
      });

      it('have nothing that a structural schema must not have', () => {
        for (const word of ['$schema', '$ref', 'const', 'anyOf', 'allOf', 'oneOf', 'not', 'default', 'nullable']) {
          expect(
            pathsWhere((field) => word in field),
            word,
          ).to.deep.equal([]);
        }
        expect(pathsWhere((field) => (field['additionalProperties'] as unknown) === false)).to.deep.equal([]);
        const typed = pathsWhere((field) => field.type === undefined && !field['x-kubernetes-int-or-string']);
        expect(typed).to.deep.equal([]);
      });

      it('bound every number, list, map and text', () => {
        const unbounded = pathsWhere((field) => {
          if (field.type === 'array') return !('maxItems' in field);
          if (field.type === 'integer') return !('minimum' in field) || !('format' in field);
          if (field.type === 'string') return !['maxLength', 'enum', 'format'].some((bound) => bound in field);
          return field.additionalProperties !== undefined && !('maxProperties' in field);
        });
        expect(unbounded).to.deep.equal(['.apiVersion', '.kind']);
      });

      it('have whole numbers only, and maps only of labels', () => {
        expect(pathsWhere((field) => field.type === 'number')).to.deep.equal([]);
        const maps = pathsWhere((field) => field.additionalProperties !== undefined);
        expect(maps.every((path) => path.endsWith('.matchLabels'))).to.equal(true);
      });

      it('show at most seven columns by default, each of a field that exists', () => {
        expect(columns.filter(({ priority }) => priority === undefined)).to.have.length.of.at.most(7);
        const known = [...fields.map(({ path }) => path), '.metadata.creationTimestamp'];
        for (const { jsonPath } of columns) expect(known).to.include(jsonPath.replace(/\[\?\(.*\)\]/, '[]'));
      });
    });
  }
});

describe('the status of a MySQLRollout', () => {
  it('may be as long as the program’s limit for it', () => {
    const fields = new Map(fieldsOf(definitionOf('MySQLRollout').schema).map(({ path, schema }) => [path, schema]));
    const longest = (path: string) => fields.get(`.status.${path}`)?.['maxLength'];
    const most = (path: string) => fields.get(`.status.${path}`)?.['maxItems'];
    for (const path of ['hold.message', 'lastStep.result', 'conditions[].message']) {
      expect(longest(path), path).to.be.at.least(statusLimits.message);
    }
    expect(longest('members[].message')).to.be.at.least(statusLimits.memberMessage);
    expect(most('history')).to.equal(statusLimits.historyEntries);
    expect(most('history[].changes')).to.be.at.least(statusLimits.changes);
    expect(longest('history[].changes[].path')).to.be.at.least(statusLimits.changedPath);
    expect(longest('history[].changes[].from')).to.be.at.least(statusLimits.changedValue);
    expect(longest('history[].changes[].to')).to.be.at.least(statusLimits.changedValue);
  });
});

function definitionOf(kind: string) {
  const found = Object.values(definitions()).find(({ spec }) => spec.names.kind === kind);
  if (found === undefined) throw new Error(`Expected a CustomResourceDefinition of ${kind}, got none`);
  const [version] = found.spec.versions;
  return { schema: version.schema.openAPIV3Schema, columns: version.additionalPrinterColumns };
}

function fieldsOf(schema: Schema, path = ''): readonly Field[] {
  const children: readonly (readonly [string, Schema])[] = [
    ...Object.entries(schema.properties ?? {}).map(([name, field]) => [`${path}.${name}`, field] as const),
    ...(schema.additionalProperties ? [[`${path}.*`, schema.additionalProperties] as const] : []),
    ...(schema.items ? [[`${path}[]`, schema.items] as const] : []),
  ];
  return [{ path, schema }, ...children.flatMap(([childPath, child]) => fieldsOf(child, childPath))];
}
