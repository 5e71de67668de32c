import { expect } from 'chai';
import { Addresses } from './addresses.ts';

const pods = 3000;

describe('the addresses of the nodes stand-in', () => {
  it('belong to a pod until it releases them', () => {
    const addresses = new Addresses();
    const all = Array.from({ length: pods }, (_, pod) => addresses.of(`pod-${pod}`));
    expect(new Set(all).size).to.equal(pods);
    expect(all[0]).to.equal('127.0.1.1');
    expect(all[254]).to.equal('127.0.2.1');
    expect(addresses.of('pod-7')).to.equal(all[7]);
    addresses.release('pod-7');
    const others = Array.from({ length: 254 * 254 - pods + 1 }, (_, pod) => addresses.of(`other-${pod}`));
    expect(others).to.include(all[7]);
    expect(() => addresses.of('one more')).to.throw('Expected fewer than 64516 pods, got more');
  });

  it('of existing pods are kept, and not given to another pod', () => {
    const addresses = new Addresses();
    addresses.keep('known', '127.0.1.1');
    addresses.keep('known', '127.0.1.1');
    addresses.keep('its successor', '127.0.1.1');
    expect(addresses.of('new')).to.equal('127.0.1.2');
    addresses.release('known');
    expect(addresses.of('its successor')).to.equal('127.0.1.1');
    addresses.keep('its successor', '127.0.1.9');
    expect(Array.from({ length: 64_514 }, (_, pod) => addresses.of(`pod-${pod}`))).to.include('127.0.1.1');
  });
});
