/** Who somebody is, as another service says that shares a secret with the organization (protocol §8.2). */
export interface JsonWebTokens {
  /** Whether the operator has named a secret for the organization. */
  isEnabledFor(realmStringId: string): boolean;
  /** Null: nothing that the organization's secret has signed, or its time is over. Runs outside units. */
  verify(realmStringId: string, token: string): Promise<TokenClaims | null>;
}

export interface TokenClaims {
  /** The address to sign in with; null: it names none. */
  readonly email: string | null;
}
