import { expect } from 'chai';
import { imageOf, theImage } from '../../../hack/bench-runtime/image.ts';

const dockerfile = `FROM node AS build
ENV IN_BUILD=1
ENTRYPOINT ["sh"]
FROM scratch
# A comment.
ENV ONE=1
ENV TWO=a=b
ENTRYPOINT ["/usr/local/bin/node", "--max-old-space-size=256", "/app/main.js"]
`;

describe('what the benchmark runs as the image does', () => {
  it("has Node's flags and the environment of the Dockerfile's last stage", () => {
    expect(imageOf(dockerfile)).to.deep.equal({
      environment: { ONE: '1', TWO: 'a=b' },
      nodeFlags: ['--max-old-space-size=256'],
    });
  });

  it('is nothing where the program is not started by a list', () => {
    expect(() => imageOf('FROM scratch\nENTRYPOINT node main.js')).to.throw('Expected an ENTRYPOINT as JSON');
    expect(() => imageOf('FROM scratch')).to.throw('got none');
  });

  it('bounds the memory of the image that there is', () => {
    expect(theImage.nodeFlags.map((flag) => flag.split('=')[0])).to.include('--max-old-space-size');
    expect(theImage.environment).to.have.property('MALLOC_ARENA_MAX');
  });
});
