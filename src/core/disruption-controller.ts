/**
 * So many evictions of the whole fleet may wait for the disruption controller. It has one worker: the next eviction
 * goes when one of them has been observed, so that evictions begin at the rate at which it works. It observes an eviction
 * only while the pod terminates: if it is later than the pod's successor, the budget stays closed for two minutes
 * (docs/decisions/0021).
 */
export const mostUnobservedEvictions = 5;
