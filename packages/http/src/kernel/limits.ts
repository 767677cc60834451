/**
 * What parameters hold at most where the contract does not say. A type without a maximum does not compile; one whose
 * maximum the contract leaves to the operation ("Channel name too long …", a topic that is cut) takes more than that.
 */

/** Of a text in code points. */
export const MAX_TEXT_LENGTH = 10_000;
/** Of what programs call things by: a queue, a message that was not sent yet. */
export const MAX_TOKEN_LENGTH = 100;
/** In one list. */
export const MAX_IDS = 10_000;
/** In one list: channels, addresses, words. */
export const MAX_NAMES = 1000;

/** Of a number as it is written. */
export const MAX_NUMBER_LENGTH = 1000;
/** Of a field that holds JSON, in UTF-16 units, whatever its type would let it hold. */
export const MAX_JSON_LENGTH = 1_000_000;
