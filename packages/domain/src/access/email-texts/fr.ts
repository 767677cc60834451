/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'Confirmez votre adresse pour {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'Vous vous inscrivez à {organization}. Confirmez que cette adresse est la vôtre pour continuer.',
  'The link expires after one day.': 'Le lien expire au bout d’un jour.',
  'Complete registration': 'Terminer l’inscription',
  'If you did not request this, ignore this email.':
    'Si vous n’êtes pas à l’origine de cette demande, ignorez cet e-mail.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'Quelqu’un s’est connecté à {organization} par un service qui n’a pas vérifié cette adresse. Confirmez qu’elle est à vous, puis connectez-vous de nouveau.',
  'Confirm this address': 'Confirmer cette adresse',
  'Confirm your new address for {name}': 'Confirmez votre nouvelle adresse pour {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'Vous remplacez l’adresse de votre compte chez {organization} par {email}.',
  'Your account at {name}': 'Votre compte chez {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'Vous avez un compte, {email}, chez {organization}. Choisissez un mot de passe pour vous connecter.',
  'Set a password': 'Choisir un mot de passe',
  'Set a new password for {name}': 'Choisissez un nouveau mot de passe pour {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'Quelqu’un a demandé un nouveau mot de passe pour le compte {email} chez {organization}.',
  'Set a new password': 'Choisir un nouveau mot de passe',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'Le compte est désactivé. L’administration de l’organisation peut le réactiver.',
  'New log-in to {name}': 'Nouvelle connexion à {name}',
  'Someone logged in to your account {email} at {organization}.':
    'Quelqu’un s’est connecté à votre compte {email} chez {organization}.',
  'Time: {time}': 'Date : {time}',
  'Program: {program}': 'Programme : {program}',
  'Network address: {ip}': 'Adresse réseau : {ip}',
  unknown: 'inconnu',
  'If this was not you, set a new password immediately and get a new API key.':
    'Si ce n’était pas vous, choisissez immédiatement un nouveau mot de passe et une nouvelle clé d’API.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'Vous recevez cet e-mail parce que les notifications des nouvelles connexions sont activées dans vos paramètres.',
  'Your address at {name} has changed': 'Votre adresse chez {name} a changé',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'L’adresse de votre compte chez {organization} est désormais {email}. Utilisez-la pour vous connecter ; les e-mails y sont aussi envoyés.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'Si vous ne l’avez pas changée, prévenez immédiatement l’administration de l’organisation.',
  'Welcome to {name}': 'Bienvenue chez {name}',
  'You have joined {name}. Log in with:': 'Vous avez rejoint {name}. Connectez-vous avec :',
  'Organization: {url}': 'Organisation : {url}',
  'Address: {email}': 'Adresse : {email}',
  'Password: the one you chose when you signed up': 'Mot de passe : celui que vous avez choisi à l’inscription',
  'Password: none; log in the same way as when you joined':
    'Mot de passe : aucun ; connectez-vous comme lors de votre arrivée',
  'How to connect': 'Comment se connecter',
  'Your account at {name} has been deactivated': 'Votre compte chez {name} a été désactivé',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person} a désactivé votre compte chez {organization}. Vous ne pouvez plus vous connecter.',
  'An administrator': 'L’administration',
  'Comment by {person}:': 'Commentaire de {person} :',
  'Second factor of your account at {name}': 'Second facteur de votre compte chez {name}',
  'A second factor was added to your account {email} at {organization}.':
    'Un second facteur a été ajouté à votre compte {email} chez {organization}.',
  'A second factor was removed from your account {email} at {organization}.':
    'Un second facteur a été retiré de votre compte {email} chez {organization}.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'L’administration a retiré tous les seconds facteurs de votre compte {email} chez {organization}.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'Si vous ne vous y attendiez pas, choisissez immédiatement un nouveau mot de passe et vérifiez les seconds facteurs de votre compte.',
  'Second factors of your account': 'Seconds facteurs de votre compte',
  '{person} has invited you to join {name}': '{person} vous invite à rejoindre {name}',
  'Reminder: {subject}': 'Rappel : {subject}',
  'Hello,': 'Bonjour,',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} vous invite à rejoindre {name}, où des équipes discutent par canaux et par sujets.',
  'This is a reminder: the invitation expires soon.': 'Ceci est un rappel : l’invitation expire bientôt.',
  'If you do not want to join, ignore this email.': 'Si vous ne voulez pas vous inscrire, ignorez cet e-mail.',
  '{name} notifications': 'Notifications de {name}',
  'Test notification': 'Notification d’essai',
  'This is a test notification from {organization}.': 'Ceci est une notification d’essai de {organization}.',
  'New messages': 'Nouveaux messages',
  'There are more messages in this conversation.': 'Cette conversation contient d’autres messages.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'Cet e-mail ne contient pas les messages parce que vous avez désactivé leur contenu dans les notifications par e-mail.',
  'This email does not include message content because your organization hides message content in email.':
    'Cet e-mail ne contient pas les messages parce que votre organisation masque leur contenu dans les e-mails.',
  'DMs with {name}': 'Messages directs avec {name}',
  'Group DMs with {names}': 'Messages de groupe avec {names}',
  '{count} more': '{count} de plus',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'Vous recevez cet e-mail parce que les notifications par e-mail des messages directs sont activées.',
  'You are receiving this because you were personally mentioned.':
    'Vous recevez cet e-mail parce que quelqu’un vous a mentionné personnellement.',
  'You are receiving this because @{group} was mentioned.':
    'Vous recevez cet e-mail parce que @{group} a été mentionné.',
  'You are receiving this because all topic participants were mentioned.':
    'Vous recevez cet e-mail parce que tous les participants du sujet ont été mentionnés.',
  'You are receiving this because everyone in the channel was mentioned.':
    'Vous recevez cet e-mail parce que tous les membres du canal ont été mentionnés.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'Vous recevez cet e-mail parce que les notifications des mentions générales sont activées pour les sujets que vous suivez.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'Vous recevez cet e-mail parce que les notifications par e-mail sont activées pour les sujets que vous suivez.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'Vous recevez cet e-mail parce que les notifications par e-mail sont activées pour {channel}.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'Vous recevez cet e-mail parce que les notifications par e-mail sont activées pour le canal.',
  'Do not reply to this email.': 'Ne répondez pas à cet e-mail.',
  'Reply to this email directly, or in the chat.': 'Répondez directement à cet e-mail ou dans le chat.',
  'View or reply in {name}': 'Voir ou répondre dans {name}',
  'Manage email preferences': 'Gérer les préférences d’e-mail',
  Unsubscribe: 'Se désabonner',
  'Weekly digest of {name}': 'Résumé hebdomadaire de {name}',
  'Open {name}': 'Ouvrir {name}',
  '{name} digest': 'Résumé de {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'Vous recevez cet e-mail parce que vous n’avez pas été actif depuis quelques jours et que les résumés par e-mail sont activés.',
  'Unread messages: {messages}, senders: {senders}': 'Messages non lus : {messages}, expéditeurs : {senders}',
  'New channels': 'Nouveaux canaux',
  'News of the last week in {name}:': 'Nouvelles de la semaine passée chez {name} :',
  'Busy conversations: {count}': 'Conversations animées : {count}',
  'New channels: {count}': 'Nouveaux canaux : {count}',
};
