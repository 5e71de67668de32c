import { expect } from 'chai';
import { edited, UnknownProgram } from './binary-edit.ts';
import { renamedPlugin, renamedPlugins, renamedServer } from './renamed-mysql.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Where code puts the version together, with a few instructions between its two pieces. */
const versionCode = `A\u00BA4\0\0\0${'.'.repeat(35)}A\u00C7E\u00009.7.`;
const server = `\x009.7.4\0 MySQL 9.7.4 ndb-9.7.4 ${versionCode}`;

describe('the edits of programs', () => {
  it('write every place over, and fill the rest with zeros', () => {
    const copy = edited('a program', latin1('long and long'), [{ from: 'long', to: 'abc', times: 2 }]);
    expect(copy.toString('latin1')).to.equal('abc\0 and abc\0');
  });

  it('leave the original as it is', () => {
    const bytes = latin1('one');
    edited('a program', bytes, [{ from: 'one', to: 'two', times: 1 }]);
    expect(bytes.toString('latin1')).to.equal('one');
  });

  it('say what a changed program does not have', () => {
    expect(() => edited('mysqld', latin1('one'), [{ from: 'one', to: 'two', times: 2 }])).to.throw(
      UnknownProgram,
      'Expected mysqld to have "one" 2 times, found it 1 times',
    );
  });

  it('never make a program longer', () => {
    expect(() => edited('mysqld', latin1('one'), [{ from: 'one', to: 'three', times: 1 }])).to.throw('at most 3 bytes');
  });
});

describe('the renamed mysqld', () => {
  it('says another version wherever it says one', () => {
    const copy = renamedServer(latin1(server), '9.7.4', '8.4.6').toString('latin1');
    expect(copy).to.not.include('9.7.');
    expect(copy).to.include('MySQL 8.4.6');
    expect(copy).to.include('A\u00BA6\0\0\0');
    expect(copy).to.include('A\u00C7E\u00008.4.');
    expect(copy.length).to.equal(server.length);
  });

  it('is refused if the digit of its version is loaded elsewhere', () => {
    const moved = server.replace('A\u00BA4\0\0\0.', 'A\u00BA4\0\0\0..');
    expect(() => renamedServer(latin1(moved), '9.7.4', '8.4.6')).to.throw(UnknownProgram, 'load 4 41 bytes before');
  });

  it('is refused if it is of a version with another shape', () => {
    expect(() => renamedServer(latin1(server), '9.7.14', '8.4.6')).to.throw(UnknownProgram, '9.7.14');
  });
});

describe('the renamed plugins', () => {
  const [source, replica] = renamedPlugins;
  const names = 'pl_semi_sync_source '.repeat(16);
  const counts = 'pl_semi_sync_source_wait_for_replica_count '.repeat(3);
  const sourceProgram = `${names}${counts}\0wait_for_replica_count\0\0wait_no_replica\0 SELECT @rpl_semi_sync_replica`;

  it('have the names of 8.4', () => {
    const copy = renamedPlugin(latin1(sourceProgram), source).toString('latin1');
    expect(copy).to.include('pl_semi_sync_master ').and.to.include('pl_semi_sync_master_wait_for_slave_count');
    expect(copy).to.include('\0wait_no_slave\0');
  });

  it('keep the user variable by which a replica says that it is one', () => {
    expect(renamedPlugin(latin1(sourceProgram), source).toString('latin1')).to.include('SELECT @rpl_semi_sync_replica');
  });

  it('are refused if one of the names is missing', () => {
    expect(() => renamedPlugin(latin1('\0rpl_semi_sync_replica\0'), replica)).to.throw(
      UnknownProgram,
      'semisync_replica.so',
    );
  });
});
