import * as wire from '../kernel/wire-schema.js';

/** Users §22. */
export const onboardingStep = wire.named(
  'OnboardingStep',
  wire.fields({ type: wire.oneOf('one_time_notice'), name: wire.text() }),
);
