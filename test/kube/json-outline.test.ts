import { expect } from 'chai';
import * as fc from 'fast-check';
import { textsAt } from '../../src/kube/json-outline.ts';
import { parseWatchEvent } from '../../src/kube/list-watch.ts';
import { mostValuesOfObject } from '../../src/kube/object-limits.ts';
import { propertyParameters } from '../support/property-parameters.ts';

describe('the texts of an object in JSON that is not parsed', () => {
  it('are those that a parser finds', () => {
    const names = fc.constantFrom('object', 'metadata', 'name', 'a"b\\', '__proto__x', '');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'medium' },
        fc.string({ unit: fc.constantFrom('a', '"', '\\', '{', ':', ',', 'ü', '\u2028') }),
        fc.constantFrom(1, null, true),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(names, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, tree, (metadata, other) => {
        const value = { type: 'ADDED', other, object: { metadata, name: 'outside' } };
        const fields = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) ? metadata : {};
        const expected = Object.entries(fields).flatMap(([name, text]) =>
          typeof text === 'string' && JSON.stringify(name) === `"${name}"` ? [[name, text]] : [],
        );
        const found = Object.entries(textsAt(JSON.stringify(value), ['object', 'metadata']));
        expect(found.filter(([name]) => !name.includes('\\'))).to.have.deep.members(expected);
      }),
      propertyParameters(300),
    );
  });

  it('are none of a text that is not JSON', () => {
    for (const text of ['', '"', '{"object', '{"object":{"metadata":{"name":"a', '}}}}', '\\"']) {
      expect(Object.keys(textsAt(text, ['object', 'metadata'])).filter((name) => name !== 'name')).to.deep.equal([]);
    }
  });
});

describe('an event of an object with too many values', () => {
  const metadata = { namespace: 'ns', name: 'a', uid: 'u', resourceVersion: '7' };
  const event = (type: string, tolerations: number) =>
    JSON.stringify({
      type,
      // As of a custom resource: fields in alphabetical order.
      object: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata,
        spec: { tolerations: Array.from({ length: tolerations }, () => ({})) },
      },
    });

  it('names the object, and has nothing of it', () => {
    for (const type of ['ADDED', 'MODIFIED', 'DELETED']) {
      expect(parseWatchEvent(event(type, mostValuesOfObject))).to.deep.equal({
        type: 'TOO_LARGE',
        metadata,
        resourceVersion: '7',
      });
    }
  });

  it('is read up to the limit', () => {
    expect(parseWatchEvent(event('ADDED', mostValuesOfObject / 2 - 20))).to.include({ type: 'ADDED' });
  });

  it('breaks the watch where it does not say which object', () => {
    const line = `{"type":"ADDED","object":{"metadata":{},"list":[${'[],'.repeat(mostValuesOfObject)}[]]}}`;
    expect(parseWatchEvent(line)).to.include({ type: 'UNREADABLE', broken: true });
  });
});
