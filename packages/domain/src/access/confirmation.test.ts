import { MAX_SIGN_UPS, requireRoomForSignUp } from './confirmations.js';

it('has room for as many people who sign up as the maximum says', () => {
  expect(() => requireRoomForSignUp(MAX_SIGN_UPS - 1)).not.toThrow();
  expect(() => requireRoomForSignUp(MAX_SIGN_UPS)).toThrow(expect.objectContaining({ code: 'TOO_MANY_SIGN_UPS' }));
});
