import { DomainError, declareErrors } from '../kernel/errors.js';
import { type FeatureParts, users } from '../kernel/event.js';
import type { PersonPart } from '../kernel/export-parts.js';
import type { Caller, RealmId, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import * as shape from '../kernel/shape.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';

/** Onboarding steps in display order, each shown once to new users (users §22). */
export const ONBOARDING_STEPS = [
  'visibility_policy_banner',
  'intro_inbox_view_modal',
  'intro_recent_view_modal',
  'first_stream_created_banner',
] as const;

/** List of first steps in the web client, for the first owner of an organization (extensions §10). */
const FIRST_STEPS = 'first_steps';

export type OnboardingStep = (typeof ONBOARDING_STEPS)[number] | typeof FIRST_STEPS;

/** Stored names: completed steps, and an offer that makes the first steps remain. */
export type OnboardingMark = OnboardingStep | 'first_steps_offered';

export const isOnboardingStep = (name: string): name is OnboardingStep =>
  name === FIRST_STEPS || (ONBOARDING_STEPS as readonly string[]).includes(name);

/** Returns the steps that are not done yet. */
export const remainingSteps = (done: ReadonlySet<string>): readonly OnboardingStep[] => [
  ...ONBOARDING_STEPS.filter((step) => !done.has(step)),
  ...(done.has('first_steps_offered') && !done.has(FIRST_STEPS) ? ([FIRST_STEPS] as const) : []),
];

export interface OnboardingReads {
  /** Returns the completed steps, possibly including obsolete ones. */
  listDone(realmId: RealmId, userId: UserId): Promise<ReadonlySet<string>>;
}

/** Every implementation passes onboarding-repository.contract.ts. */
export interface OnboardingRepository extends OnboardingReads {
  /** Idempotent. */
  markDone(realmId: RealmId, userId: UserId, step: OnboardingMark): Promise<void>;
}

export const ONBOARDING_ERRORS = declareErrors({
  /** The step does not exist. */
  UNKNOWN_ONBOARDING_STEP: 'unknown',
});

type OnboardingErrors = typeof ONBOARDING_ERRORS;

export interface OnboardingEventTypes {
  /** Sent to the user with the remaining steps. */
  'onboarding.steps_changed': { readonly remaining: readonly OnboardingStep[] };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    onboarding: [reads: OnboardingReads, repository: OnboardingRepository];
  }
  interface ErrorCodes extends OnboardingErrors {}
  interface DomainEventTypes extends OnboardingEventTypes {}
  interface PersonCopyParts {
    readonly onboardingSteps: readonly OnboardingStep[];
  }
}

const personPart: PersonPart<'onboardingSteps'> = {
  none: { onboardingSteps: [] },
  shapes: { onboardingSteps: shape.list(shape.name, 1000) },
  read: async (reads, { realmId, userId }) => ({
    onboardingSteps: [...(await reads.onboarding.listDone(realmId, userId))].filter(isOnboardingStep),
  }),
  async add(tx, { realmId, userId }, { onboardingSteps }) {
    for (const step of onboardingSteps) await tx.onboarding.markDone(realmId, userId, step);
  },
};

export const ONBOARDING_FEATURE = {
  eventFormats: { 'onboarding.steps_changed': 1 },
  personPart: personPart,
} satisfies FeatureParts<OnboardingEventTypes>;

/** Returns the onboarding steps not yet shown to the viewer. */
export const loadRemainingSteps = async ({ caller, repositories }: Snapshot): Promise<readonly OnboardingStep[]> =>
  remainingSteps(await repositories.onboarding.listDone(caller.realmId, caller.userId));

/** Marks an onboarding step as done (users §22). */
export class CompleteOnboardingStep {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_ONBOARDING_STEP */
  async execute({ realmId, userId }: Caller, { step }: { readonly step: string }): Promise<void> {
    if (!isOnboardingStep(step)) {
      throw new DomainError('UNKNOWN_ONBOARDING_STEP', `Unknown onboarding_step: ${step}`);
    }
    await this.uow.write(realmId, async (tx) => {
      await tx.onboarding.markDone(realmId, userId, step);
      const remaining = remainingSteps(await tx.onboarding.listDone(realmId, userId));
      const event = { type: 'onboarding.steps_changed', remaining } as const;
      await tx.events.append(realmId, { event, audience: users([userId]) });
    });
  }
}
