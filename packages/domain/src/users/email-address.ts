/** Whether it can be an address: one `@` between a local part and a domain with a dot, as sign-up forms ask. */
export function isEmailAddress(text: string): boolean {
  if (text.length > 254) return false;
  return /^[^\s@"(),:;<>[\\\]]+@[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/i.test(text);
}
