/** Who this server is to a BigBlueButton server. */
export interface BigBlueButtonAccount {
  /** Where it is, without a slash at the end: `https://bbb.example.com/bigbluebutton`. */
  readonly url: string;
  /** The shared secret: what requests are signed with. */
  readonly secret: string;
}
