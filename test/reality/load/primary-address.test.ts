import { expect } from 'chai';
import { type Endpoint, primaryAddress } from './primary-address.ts';

interface Traits {
  readonly role?: 'primary' | 'replica';
  readonly ready?: boolean;
  readonly terminating?: boolean;
}

function pod(podIP: string, { role, ready = true, terminating = false }: Traits): Endpoint {
  return {
    metadata: {
      labels: role === undefined ? {} : { 'moco.cybozu.com/role': role },
      ...(terminating ? { deletionTimestamp: '2026-01-02T03:04:05Z' } : {}),
    },
    status: { podIP, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

describe("the address behind the primary's Service", () => {
  it('is that of the ready pod with the role primary', () => {
    expect(primaryAddress([pod('127.0.0.2', { role: 'replica' }), pod('127.0.0.3', { role: 'primary' })])).to.equal(
      '127.0.0.3',
    );
  });

  it('is none while the primary is not ready, or no pod has its role', () => {
    expect(primaryAddress([pod('127.0.0.2', { role: 'primary', ready: false })])).to.equal(null);
    expect(primaryAddress([pod('127.0.0.2', {}), pod('127.0.0.3', { role: 'replica' })])).to.equal(null);
    expect(primaryAddress([])).to.equal(null);
  });

  it('is that of a terminating pod only if no other one is ready', () => {
    const going = pod('127.0.0.2', { role: 'primary', terminating: true });
    expect(primaryAddress([going])).to.equal('127.0.0.2');
    expect(primaryAddress([going, pod('127.0.0.3', { role: 'primary' })])).to.equal('127.0.0.3');
    expect(primaryAddress([going, pod('127.0.0.3', { role: 'primary', ready: false })])).to.equal('127.0.0.2');
  });
});
