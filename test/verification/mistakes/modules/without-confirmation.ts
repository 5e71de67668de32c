import { ClusterApi as Right } from '../../../../src/objects/cluster-client.ts';

type WithTokens<T> = Parameters<typeof Right.prototype.withTokens<T>>;

/** Takes what the cache knows for what was just read, when it is about to do something. */
export class ClusterApi extends Right {
  /** The right one would go on as one of the right ones. */
  override withTokens<T>(...[known, targets, work]: WithTokens<T>): Promise<T | null> {
    return super.withTokens(known, targets, () => work(this));
  }

  override async readNewest(...[known]: Parameters<Right['readNewest']>): ReturnType<Right['readNewest']> {
    const live = await super.readNewest(known);
    return live && { ...live, objects: known.objects };
  }
}
