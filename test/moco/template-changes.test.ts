import { expect } from 'chai';
import type { Json } from '../../src/base/json.ts';
import { templateChanges } from '../../src/moco/template-changes.ts';

const container = (name: string, more: object = {}): object => ({ name, image: `example/${name}:1`, ...more });
const template = (spec: object, metadata: object = {}): Json => ({ $patch: 'replace', metadata, spec });

const changes: Readonly<Record<string, readonly [before: Json, after: Json, expected: readonly object[]]>> = {
  'the image of one container': [
    template({ containers: [container('agent'), container('mysqld')] }),
    template({ containers: [container('agent'), container('mysqld', { image: 'example/mysqld:2' })] }),
    [{ path: 'spec.containers[mysqld].image', from: 'example/mysqld:1', to: 'example/mysqld:2' }],
  ],
  'a container that came, one that went, by their images': [
    template({ containers: [container('mysqld'), container('old')] }),
    template({ containers: [container('mysqld'), container('new')] }),
    [
      { path: 'spec.containers[old].image', from: 'example/old:1' },
      { path: 'spec.containers[new].image', to: 'example/new:1' },
    ],
  ],
  'the first init container': [
    template({}),
    template({ initContainers: [container('copy')] }),
    [{ path: 'spec.initContainers[copy].image', to: 'example/copy:1' }],
  ],
  'an annotation, whose name has dots': [
    template({}, { annotations: { 'example.com/reason': 'a' } }),
    template({}, { annotations: { 'example.com/reason': 'b' } }),
    [{ path: 'metadata.annotations[example.com/reason]' }],
  ],
  'the order of containers, beside an image': [
    template({ containers: [container('a'), container('b')] }),
    template({ containers: [container('b'), container('a', { image: 'example/a:2' })] }),
    [{ path: 'spec.containers[a].image', from: 'example/a:1', to: 'example/a:2' }, { path: 'spec.containers' }],
  ],
  'variables in another order': [
    template({ containers: [container('a', { env: [{ name: 'A' }, { name: 'B' }] })] }),
    template({ containers: [container('a', { env: [{ name: 'B' }, { name: 'A' }] })] }),
    [{ path: 'spec.containers[a].env' }],
  ],
  'a variable in front of another one': [
    template({ containers: [container('a', { env: [{ name: 'A' }, { name: 'B' }] })] }),
    template({ containers: [container('a', { env: [{ name: 'C' }, { name: 'A' }] })] }),
    [{ path: 'spec.containers[a].env[B]' }, { path: 'spec.containers[a].env[C]' }],
  ],
  'a list that becomes empty': [template({ volumes: [] }), template({}), [{ path: 'spec.volumes' }]],
  'a list without names, by place': [
    template({ containers: [container('mysqld', { args: ['--a', '--b'] })] }),
    template({ containers: [container('mysqld', { args: ['--a', '--c', '--d'] })] }),
    [{ path: 'spec.containers[mysqld].args[1]' }, { path: 'spec.containers[mysqld].args[2]' }],
  ],
  'a list whose names are not its own, by place': [
    template({ containers: [container('mysqld', { volumeMounts: [{ name: 'v', mountPath: '/a' }] })] }),
    template({
      containers: [
        container('mysqld', {
          volumeMounts: [
            { name: 'v', mountPath: '/a' },
            { name: 'v', mountPath: '/b' },
          ],
        }),
      ],
    }),
    [{ path: 'spec.containers[mysqld].volumeMounts[1]' }],
  ],
  'a value that becomes another kind of value': [
    template({ affinity: {}, tolerations: [{ key: 'a' }], hostname: 'x' }),
    template({ affinity: null, tolerations: 'none', hostname: ['x'] }),
    [{ path: 'spec.affinity' }, { path: 'spec.tolerations' }, { path: 'spec.hostname' }],
  ],
  'images before anything else': [
    template({ terminationGracePeriodSeconds: 30, containers: [container('mysqld')] }),
    template({ terminationGracePeriodSeconds: 300, containers: [container('mysqld', { image: 'example/mysqld:2' })] }),
    [
      { path: 'spec.containers[mysqld].image', from: 'example/mysqld:1', to: 'example/mysqld:2' },
      { path: 'spec.terminationGracePeriodSeconds' },
    ],
  ],
};

describe('what changed in a pod template', () => {
  for (const [what, [before, after, expected]] of Object.entries(changes)) {
    it(`is reported: ${what}`, () => expect(templateChanges(before, after)).to.deep.equal(expected));
  }

  it('has values of container images only, not of other fields named image', () => {
    const secret = 'correct horse battery staple';
    const before = template({ containers: [container('mysqld')] });
    const after = template(
      {
        containers: [
          container('mysqld', {
            image: 'example/mysqld:2',
            args: [secret],
            env: [
              { name: 'PASSWORD', value: secret },
              { name: 'image', value: secret },
            ],
            lifecycle: { image: secret },
          }),
        ],
        volumes: [
          { name: 'image', image: { reference: secret } },
          { name: 'v', image: secret },
        ],
        image: secret,
      },
      { annotations: { image: secret }, labels: { secret } },
    );
    for (const changed of [templateChanges(before, after), templateChanges(after, before)]) {
      expect(JSON.stringify(changed)).to.contain('example/mysqld:2');
      expect(JSON.stringify(changed)).to.not.contain(secret);
      expect(changed.map(({ path }) => path)).to.include.members([
        'spec.containers[mysqld].env[PASSWORD]',
        'spec.containers[mysqld].env[image]',
        'metadata.annotations',
      ]);
    }
  });
});
