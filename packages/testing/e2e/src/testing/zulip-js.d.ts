/** Used part of zulip-js 2.1. It throws on responses that are not JSON; errors are normal responses. */
declare module 'zulip-js' {
  /** Parsed JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
  export type Answer = any;
  /** Lists are sent as JSON, other values as text. PATCH and DELETE do not encode lists: pass text. */
  export type Params = Readonly<Record<string, string | number | readonly unknown[]>>;
  type Call = (params: Params) => Promise<Answer>;

  export interface Client {
    readonly config: { readonly username: string; readonly apiKey: string };
    callEndpoint(path: string, method?: 'GET' | 'POST' | 'DELETE', params?: Params): Promise<Answer>;
    readonly accounts: { retrieve(): Promise<Answer> };
    readonly queues: { readonly register: Call; readonly deregister: Call };
    readonly events: { readonly retrieve: Call };
    readonly messages: {
      readonly retrieve: Call;
      readonly send: Call;
      readonly getById: Call;
      readonly flags: { readonly add: Call; readonly remove: Call };
    };
    readonly streams: {
      retrieve(): Promise<Answer>;
      getStreamId(name: string): Promise<Answer>;
      readonly topics: { readonly retrieve: Call };
      readonly subscriptions: { retrieve(): Promise<Answer> };
    };
    readonly users: {
      retrieve(): Promise<Answer>;
      readonly me: {
        getProfile(): Promise<Answer>;
        readonly subscriptions: { readonly add: Call; readonly remove: Call };
      };
    };
    /** Never returns. */
    callOnEachEvent(callback: (event: Answer) => void, eventTypes?: readonly string[]): Promise<never>;
  }

  export type Config =
    | { readonly zuliprc: string }
    | { readonly realm: string; readonly username: string; readonly apiKey: string }
    | { readonly realm: string; readonly username: string; readonly password: string };

  /** Logs in with a password; on failure, `config.apiKey` stays undefined. */
  export default function zulip(config: Config): Promise<Client>;
}
