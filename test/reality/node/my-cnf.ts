const serverSection = '[mysqld]';

/**
 * MOCO's my.cnf for a mysqld that shares its network with others: it listens at its pod's address alone.
 *
 * @param unknownVariables lines for these are left out
 */
export function myCnf(text: string, address: string, unknownVariables: readonly string[]): string {
  const lines = text.split('\n').filter((line) => !unknownVariables.includes(variableOf(line)));
  const at = lines.indexOf(serverSection);
  if (at === -1) throw new Error(`Expected a section ${serverSection} in MOCO's my.cnf, found none`);
  // A kernel grants asynchronous I/O to about 14 mysqld on a machine; InnoDB's own threads do as well here.
  const own = [`bind_address = ${address}`, `mysqlx_bind_address = ${address}`, 'innodb_use_native_aio = OFF'];
  return lines.toSpliced(at + 1, 0, ...own).join('\n');
}

/** `loose_` lets mysqld go on where it does not know a variable; here it is gone all the same. */
function variableOf(line: string): string {
  return (line.split('=')[0] ?? '')
    .trim()
    .replace(/^loose[_-]/, '')
    .replaceAll('-', '_');
}
