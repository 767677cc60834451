/** Data of the application, with the name of the slot for it: that of a message, the opened channel, or a sender. */
export type ShownData = {
  readonly data: Readonly<Record<string, unknown>>;
  readonly slot: string;
} & (
  | { readonly messageId: number }
  | { readonly channelId: number }
  /** A sender, after the name above this message. */
  | { readonly userId: number; readonly messageId: number }
);

/** Replacement texts of a product, by the English text. `{name}` stands for the placeholder in the chat's text. */
export type HostTexts = Readonly<Record<string, string>>;
