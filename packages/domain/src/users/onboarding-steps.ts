import type { RealmId, UserId } from '../kernel/ids.js';

/** What a client shows to newcomers once, in the order in which it is listed (users §22). */
export const ONBOARDING_STEPS = [
  'visibility_policy_banner',
  'intro_inbox_view_modal',
  'intro_recent_view_modal',
  'first_stream_created_banner',
] as const;

export type OnboardingStep = (typeof ONBOARDING_STEPS)[number];

export const isOnboardingStep = (name: string): name is OnboardingStep =>
  (ONBOARDING_STEPS as readonly string[]).includes(name);

/** Those that are still to come. */
export const remainingSteps = (done: ReadonlySet<string>): readonly OnboardingStep[] =>
  ONBOARDING_STEPS.filter((step) => !done.has(step));

export interface OnboardingReads {
  /** What the user has been shown; perhaps steps that there are no more. */
  listDone(realmId: RealmId, userId: UserId): Promise<ReadonlySet<string>>;
}

/** Every implementation passes onboarding-repository.contract.ts. */
export interface OnboardingRepository extends OnboardingReads {
  /** Once more: without effect. */
  markDone(realmId: RealmId, userId: UserId, step: OnboardingStep): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    onboarding: [reads: OnboardingReads, repository: OnboardingRepository];
  }
}
