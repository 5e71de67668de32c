import { expect } from 'chai';
import { imageOf, theImage } from '../../../../hack/bench/runtime/image.ts';

const dockerfile = `FROM node AS build
ENV IN_BUILD=1
ENTRYPOINT ["sh"]
FROM scratch
# A comment.
ENV ONE=1
ENV TWO=a=b
ENTRYPOINT ["/usr/local/bin/node", "--max-old-space-size=256", "/app/main.js"]
`;

describe('the image’s settings in the benchmark', () => {
  it('have Node’s flags and the environment of the Dockerfile’s last stage', () => {
    expect(imageOf(dockerfile)).to.deep.equal({
      environment: { ONE: '1', TWO: 'a=b' },
      nodeFlags: ['--max-old-space-size=256'],
    });
  });

  it('need an ENTRYPOINT as a list', () => {
    expect(() => imageOf('FROM scratch\nENTRYPOINT node main.js')).to.throw('Expected an ENTRYPOINT as JSON');
    expect(() => imageOf('FROM scratch')).to.throw('got none');
  });

  it('include the memory limit of the real image', () => {
    expect(theImage.nodeFlags.map((flag) => flag.split('=')[0])).to.include('--max-old-space-size');
    expect(theImage.environment).to.have.property('MALLOC_ARENA_MAX');
  });
});
