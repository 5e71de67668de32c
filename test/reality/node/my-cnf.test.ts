import { expect } from 'chai';
import { myCnf } from './my-cnf.ts';

const text =
  '[client]\nport = 3306\n[mysqld]\nloose_temptable_use_mmap = OFF\ninnodb-log-file-size=800M\nport = 3306\n';

describe("MOCO's my.cnf on a shared network", () => {
  it('has mysqld listen at the address of its pod', () => {
    expect(myCnf(text, '127.9.1.1', [])).to.include(
      '[mysqld]\nbind_address = 127.9.1.1\nmysqlx_bind_address = 127.9.1.1\n',
    );
  });

  it('has no lines that this mysqld does not know, however they are written', () => {
    const lines = myCnf(text, '127.9.1.1', ['temptable_use_mmap', 'innodb_log_file_size']).split('\n');
    expect(lines).to.deep.equal([
      '[client]',
      'port = 3306',
      '[mysqld]',
      'bind_address = 127.9.1.1',
      'mysqlx_bind_address = 127.9.1.1',
      'innodb_use_native_aio = OFF',
      'port = 3306',
      '',
    ]);
  });

  it('is refused without a section for mysqld', () => {
    expect(() => myCnf('[client]\n', '127.9.1.1', [])).to.throw('[mysqld]');
  });
});
