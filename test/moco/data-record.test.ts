import { expect } from 'chai';
import * as fc from 'fast-check';
import type { DataRecord } from '../../src/core/snapshot.ts';
import { dataClaimOf, dataRecordText, parseDataRecord } from '../../src/moco/data-record.ts';

const record: DataRecord = {
  revision: 'moco-test-7966559688',
  image: 'ghcr.io/cybozu-go/moco/mysql:8.4.8',
  version: '8.4.8',
};
const killed = true as const;
const annotation = (fields: unknown): string => JSON.stringify(fields);

const lowercase = 'abcdefghijklmnopqrstuvwxyz0123456789';
const nameOf = (most: number) =>
  fc.string({ unit: fc.constantFrom(...Array.from(lowercase)), minLength: 1, maxLength: most });
const written: fc.Arbitrary<DataRecord> = fc.record(
  {
    revision: nameOf(253),
    image: fc.option(nameOf(500)),
    version: fc.option(fc.constantFrom('8.0.40', '8.4', '9.7.4', '8.4.8-debian')),
    killed: fc.constant(killed),
  },
  { requiredKeys: ['revision', 'image', 'version'] },
);

const nothing: Readonly<Record<string, string | null>> = {
  'no annotation': null,
  'an empty one': '',
  'text that is no JSON': '{"revision":',
  'a list': '["moco-test-1"]',
  'a number': '1',
  null: 'null',
  'an object without a revision': annotation({ image: record.image }),
  'a revision that is no text': annotation({ revision: { name: 'moco-test-1' } }),
  'a revision that is no name': annotation({ revision: 'Moco Test' }),
  'a revision that ends like no name': annotation({ revision: 'moco-test-' }),
  'an empty revision': annotation({ revision: '' }),
  'a revision that is too long': annotation({ revision: 'a'.repeat(254) }),
  'more text than a record has': annotation({ ...record, note: 'x'.repeat(1024) }),
  'a megabyte': 'x'.repeat(1_000_000),
};

describe('the record of the data on a claim', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(written, (one) => {
        expect(parseDataRecord(dataRecordText(one))).to.deep.equal(one);
      }),
    );
  });

  it('fits into what is read, however long its names are', () => {
    const longest = { revision: 'a'.repeat(253), image: 'b'.repeat(512), version: '8.4.8', killed };
    expect(parseDataRecord(dataRecordText(longest))).to.deep.equal(longest);
  });

  for (const [sentence, given] of Object.entries(nothing)) {
    it(`says nothing: ${sentence}`, () => expect(parseDataRecord(given)).to.equal(null));
  }

  it('leaves out what is unknown, and an image or a version that is invalid', () => {
    const known = (fields: object) => parseDataRecord(annotation({ revision: record.revision, ...fields }));
    const revisionAlone = { revision: record.revision, image: null, version: null };
    expect(known({ until: 'now', __proto__: { version: '1' } })).to.deep.equal(revisionAlone);
    expect(known({ image: ['a'], version: 8.4 })).to.deep.equal(revisionAlone);
    expect(known({ image: 'a b', version: 'newest' })).to.deep.equal(revisionAlone);
    for (const other of [false, 'true', 1, null, {}]) expect(known({ killed: other })).to.deep.equal(revisionAlone);
    expect(known({ image: 'x'.repeat(513), version: `8.4.8${'-'.repeat(40)}` })).to.deep.equal(revisionAlone);
    expect(known({ image: '\u001b[31mred', version: '7.0.1' })).to.deep.equal(revisionAlone);
    expect(annotation({ revision: 'a' })).to.equal(dataRecordText({ revision: 'a', image: null, version: null }));
  });

  it('throws at no text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const read = parseDataRecord(text);
        expect(read === null || read.revision.length > 0).to.equal(true);
      }),
    );
  });

  it('is on the claim that MOCO names after the pod', () => {
    expect(dataClaimOf('test', 1)).to.equal('mysql-data-moco-test-1');
  });
});
