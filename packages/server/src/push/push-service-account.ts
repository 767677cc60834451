/** Who this server is to the push service. */
export interface PushServiceAccount {
  /** Where the service is, without a slash at the end: `https://push.example.com`. */
  readonly url: string;
  readonly orgId: string;
  readonly orgKey: string;
}
