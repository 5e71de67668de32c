/** What the real programs need and this machine doesn't have. The message is a sentence for a person. */
export class Unavailable extends Error {}
