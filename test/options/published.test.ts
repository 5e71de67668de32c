import { expect } from 'chai';
import { parseOptions } from '../../src/options/options.ts';
import { publish, readPublished } from '../../src/options/published.ts';

function published(...argv: readonly string[]): string {
  const parsed = parseOptions(argv);
  if (parsed.kind !== 'options') throw new Error(`expected options, got ${parsed.kind}`);
  return publish(parsed.options);
}

describe('flags that the controller publishes', () => {
  it('are read as they were given', () => {
    const read = readPublished(
      published(
        '--max-concurrent-rollouts=20',
        '--disruption-interval=30s',
        '--verify-first-cluster=false',
        '--feature-gates=UpdateStrategyOnDelete=true',
        '--prometheus-url=http://prometheus.example',
      ),
    );
    expect(read).to.deep.include({
      maxConcurrentRollouts: 20,
      disruptionIntervalMilliseconds: 30_000,
      verifyFirstCluster: false,
      maxFailingRollouts: 3,
      featureGates: {
        UpdateStrategyOnDelete: true,
        InPlaceUpdate: false,
        NodeMaintenance: false,
        ReplicationFacts: false,
        EvictionRequests: false,
      },
    });
    expect(read).to.not.have.property('prometheusUrl');
  });

  it('are the built-in ones where nothing, or something else, is published', () => {
    const builtIn = readPublished(published());
    for (const annotation of [undefined, 'none', '[]', '{"maxConcurrentRollouts":"many","unknown":1}']) {
      expect(readPublished(annotation), annotation).to.deep.equal(builtIn);
    }
  });
});
