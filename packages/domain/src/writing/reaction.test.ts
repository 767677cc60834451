import { MAX_REACTION_EMOJI, MAX_REACTIONS, requireRoomForReaction } from './reactions.js';

it('requireRoomForReaction rejects a reaction beyond the limits on reactions or distinct emoji', () => {
  expect(() => requireRoomForReaction(MAX_REACTIONS - 1, MAX_REACTION_EMOJI)).not.toThrow();
  expect(() => requireRoomForReaction(MAX_REACTIONS, 1)).toThrow('Too many reactions (limit: 5000).');
  expect(() => requireRoomForReaction(1, MAX_REACTION_EMOJI + 1)).toThrow('Too many different reactions (limit: 100).');
});
