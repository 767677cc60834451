export { type BuiltScript, buildScript } from './build-script.js';
export {
  aChannel,
  aGroup,
  aMessage,
  anotherRealm,
  aRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  createFixtureOn,
  Fixture,
  type FixtureStep,
  type GivenMessage,
  type MemoryFixture,
  subscribe,
} from './builders.js';
export { expectInSync } from './client-model.js';
export { countingReads } from './counting-reads.js';
export { DrivenTime } from './driven-time.js';
export { eventsWithReceivers } from './events-with-receivers.js';
export { expectRefused } from './expect-refused.js';
export { FakeImageProcessor, fakeImage } from './fake-image-processor.js';
export { FakeMailer } from './fake-mailer.js';
export {
  FakeApiKeyMint,
  FakeChannelQuota,
  FakeLetterQuota,
  FakeLoginAttempts,
  FakePasswordHasher,
  FakeSessionTokens,
  fakeDisposableDomains,
  fakeEventLoop,
  fakePasswordStrength,
  fakeRealmUrls,
} from './fake-ports.js';
export { FakeRenderer, OverwhelmedRenderer } from './fake-renderer.js';
export { FixedClock } from './fixed-clock.js';
export { freePort } from './free-port.js';
export { allHostilePatterns, type HostilePattern, someHostilePatterns } from './hostile-patterns.js';
export { HOSTILE_TEXTS } from './hostile-texts.js';
export { flagChange, LiveEvents, type LiveEventsOptions, seqsOf } from './live-events.js';
export {
  channelGranting,
  channelId,
  formatDecision,
  groupId,
  inTeam,
  makeActor,
  makeChannel,
  makeGroup,
  makeMembership,
  makeNewMessage,
  makeRealm,
  makeSystemGroup,
  makeUser,
  PRIVACY_BY_KIND,
  systemGroup,
  TEAM,
  tableRows,
  userId,
} from './make-values.js';
export { MemoryBlobStore } from './memory-blob-store.js';
export { MemoryPartialBlobStore } from './memory-partial-blob-store.js';
export { blackPng, crc32 } from './png.js';
export { agreeOnRandomHistories } from './random-histories.js';
export { ANIMATED_GIF, blackHeic, HEIC_PHOTO, TIFF, TURNED_HEIC_PHOTO } from './sample-images.js';
export {
  alternativesOf,
  excessesOf,
  fieldTextOf,
  largestOf,
  leastOf,
  type ParameterSchema,
  unboundedIn,
} from './schema-bounds.js';
export { SeededRandomness } from './seeded-randomness.js';
export { sending } from './sending.js';
export { signJsonWebToken } from './sign-json-web-token.js';
export { committingLate, failingToCommit } from './troubled-units.js';
