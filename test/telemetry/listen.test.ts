import { expect } from 'chai';
import { parseBindAddress, showBindAddress } from '../../src/telemetry/http-server.ts';

describe('a bind address', () => {
  for (const text of [':0', ':9443', '127.0.0.1:80', 'localhost:65535', '[::1]:80', '[fe80::1%eth0]:80']) {
    it(`is printed as it is read: ${text}`, () => {
      const address = parseBindAddress(text);
      expect(address === null ? null : showBindAddress(address)).to.equal(text);
    });
  }

  for (const text of [
    '',
    '0',
    '80',
    ':',
    ':65536',
    ':-1',
    '::1:80',
    '[::1]',
    'a b:80',
    'http://a:80',
    '127.0.0.1:80:80',
  ]) {
    it(`isn't ${text === '' ? 'nothing at all' : text}`, () => {
      expect(parseBindAddress(text)).to.equal(null);
    });
  }
});
