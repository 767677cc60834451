/** Words of letters, digits and what may stand between them, joined by single dots (RFC 5321 without quotes). */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** Two labels or more; the last one no number and no single letter. */
const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!\d+$)[a-z\d][a-z\d-]{0,61}[a-z\d]$/i;
const MAX_LENGTH = 254;
const MAX_LOCAL_LENGTH = 64;

/** Whether it can be an address, as sign-up forms ask: such as mail servers anywhere take. */
export function isEmailAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (text.length > MAX_LENGTH || at > MAX_LOCAL_LENGTH) return false;
  return LOCAL_PART.test(text.slice(0, Math.max(at, 0))) && DOMAIN.test(text.slice(at + 1));
}
