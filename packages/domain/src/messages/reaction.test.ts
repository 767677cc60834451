import { MAX_REACTION_EMOJI, MAX_REACTIONS, requireRoom } from './reactions.js';

it('leaves room for one more reaction until there are as many as a message is shown with', () => {
  expect(() => requireRoom(MAX_REACTIONS - 1, MAX_REACTION_EMOJI)).not.toThrow();
  expect(() => requireRoom(MAX_REACTIONS, 1)).toThrow('Too many reactions (limit: 5000).');
  expect(() => requireRoom(1, MAX_REACTION_EMOJI + 1)).toThrow('Too many different reactions (limit: 100).');
});
