import type { ClusterSnapshot } from '../../src/core/snapshot.ts';

/** Facts of a cluster that waits for nobody, where nothing has failed and nothing else is under way. */
export const undisturbed = {
  contention: null,
  settingsProblem: null,
  policyGone: null,
  createFailure: null,
  released: false,
  wasAdopted: false,
  fleetWaits: [],
  fleetQueue: null,
  fleetInterval: null,
  maintenance: null,
  checks: [],
  laterStageWaits: false,
  preflight: null,
  preflightPodsExist: false,
  unobservedEvictions: 0,
  admissionProblem: null,
  adoptionAgesSeconds: [],
  promotion: null,
  releaseRefusal: null,
  strategyKeeper: 'webhook',
  stepFailure: null,
  statusRefusal: null,
  rolloutProblem: null,
  ownWritePending: null,
} as const satisfies Partial<ClusterSnapshot>;
