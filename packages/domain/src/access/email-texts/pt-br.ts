/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'Confirme seu endereço para {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'Você está se cadastrando em {organization}. Confirme que este endereço é seu para continuar.',
  'The link expires after one day.': 'O link expira após um dia.',
  'Complete registration': 'Concluir o cadastro',
  'If you did not request this, ignore this email.': 'Se você não solicitou isto, ignore este e-mail.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'Alguém entrou em {organization} por um serviço que não verificou este endereço. Confirme que ele é seu e entre novamente.',
  'Confirm this address': 'Confirmar este endereço',
  'Confirm your new address for {name}': 'Confirme seu novo endereço para {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'Você está alterando o endereço da sua conta em {organization} para {email}.',
  'Your account at {name}': 'Sua conta em {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'Você tem uma conta, {email}, em {organization}. Defina uma senha para entrar.',
  'Set a password': 'Definir uma senha',
  'Set a new password for {name}': 'Defina uma nova senha para {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'Alguém solicitou uma nova senha para a conta {email} em {organization}.',
  'Set a new password': 'Definir uma nova senha',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'A conta está desativada. A administração da organização pode reativá-la.',
  'New log-in to {name}': 'Novo acesso a {name}',
  'Someone logged in to your account {email} at {organization}.':
    'Alguém entrou na sua conta {email} em {organization}.',
  'Time: {time}': 'Hora: {time}',
  'Program: {program}': 'Programa: {program}',
  'Network address: {ip}': 'Endereço de rede: {ip}',
  unknown: 'desconhecido',
  'If this was not you, set a new password immediately and get a new API key.':
    'Se não foi você, defina imediatamente uma nova senha e obtenha uma nova chave de API.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'Você recebe este e-mail porque as notificações de novos acessos estão ativadas nas suas configurações.',
  'Your address at {name} has changed': 'Seu endereço em {name} foi alterado',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'O endereço da sua conta em {organization} agora é {email}. Use-o para entrar; os e-mails também vão para ele.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'Se você não o alterou, avise imediatamente a administração da organização.',
  'Welcome to {name}': 'Boas-vindas a {name}',
  'You have joined {name}. Log in with:': 'Você entrou em {name}. Acesse com:',
  'Organization: {url}': 'Organização: {url}',
  'Address: {email}': 'Endereço: {email}',
  'Password: the one you chose when you signed up': 'Senha: a que você escolheu ao se cadastrar',
  'Password: none; log in the same way as when you joined': 'Senha: nenhuma; entre do mesmo modo que da primeira vez',
  'How to connect': 'Como se conectar',
  'Your account at {name} has been deactivated': 'Sua conta em {name} foi desativada',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person} desativou sua conta em {organization}. Você não pode mais entrar.',
  'An administrator': 'A administração',
  'Comment by {person}:': 'Comentário de {person}:',
  'Second factor of your account at {name}': 'Segundo fator da sua conta em {name}',
  'A second factor was added to your account {email} at {organization}.':
    'Um segundo fator foi adicionado à sua conta {email} em {organization}.',
  'A second factor was removed from your account {email} at {organization}.':
    'Um segundo fator foi removido da sua conta {email} em {organization}.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'A administração removeu todos os segundos fatores da sua conta {email} em {organization}.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'Se você não esperava isto, defina imediatamente uma nova senha e verifique os segundos fatores da sua conta.',
  'Second factors of your account': 'Segundos fatores da sua conta',
  '{person} has invited you to join {name}': '{person} convidou você para {name}',
  'Reminder: {subject}': 'Lembrete: {subject}',
  'Hello,': 'Olá,',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} convida você para {name}, onde equipes conversam em canais e tópicos.',
  'This is a reminder: the invitation expires soon.': 'Este é um lembrete: o convite expira em breve.',
  'If you do not want to join, ignore this email.': 'Se você não quiser participar, ignore este e-mail.',
  '{name} notifications': 'Notificações de {name}',
  'Test notification': 'Notificação de teste',
  'This is a test notification from {organization}.': 'Esta é uma notificação de teste de {organization}.',
  'New messages': 'Novas mensagens',
  'There are more messages in this conversation.': 'Há mais mensagens nesta conversa.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'Este e-mail não inclui o conteúdo das mensagens porque você o desativou nas notificações por e-mail.',
  'This email does not include message content because your organization hides message content in email.':
    'Este e-mail não inclui o conteúdo das mensagens porque sua organização o oculta em e-mails.',
  'DMs with {name}': 'Mensagens diretas com {name}',
  'Group DMs with {names}': 'Mensagens em grupo com {names}',
  '{count} more': 'mais {count}',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'Você recebe este e-mail porque as notificações por e-mail de mensagens diretas estão ativadas.',
  'You are receiving this because you were personally mentioned.':
    'Você recebe este e-mail porque foi mencionado pessoalmente.',
  'You are receiving this because @{group} was mentioned.': 'Você recebe este e-mail porque @{group} foi mencionado.',
  'You are receiving this because all topic participants were mentioned.':
    'Você recebe este e-mail porque todos os participantes do tópico foram mencionados.',
  'You are receiving this because everyone in the channel was mentioned.':
    'Você recebe este e-mail porque todos no canal foram mencionados.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'Você recebe este e-mail porque as notificações de menções gerais estão ativadas para os tópicos que você segue.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'Você recebe este e-mail porque as notificações por e-mail estão ativadas para os tópicos que você segue.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'Você recebe este e-mail porque as notificações por e-mail estão ativadas para {channel}.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'Você recebe este e-mail porque as notificações por e-mail estão ativadas para o canal.',
  'Do not reply to this email.': 'Não responda a este e-mail.',
  'Reply to this email directly, or in the chat.': 'Responda diretamente a este e-mail ou no chat.',
  'View or reply in {name}': 'Ver ou responder em {name}',
  'Manage email preferences': 'Preferências de e-mail',
  Unsubscribe: 'Cancelar inscrição',
  'Weekly digest of {name}': 'Resumo semanal de {name}',
  'Open {name}': 'Abrir {name}',
  '{name} digest': 'Resumo de {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'Você recebe este e-mail porque está há alguns dias sem atividade e os resumos por e-mail estão ativados.',
  'Unread messages: {messages}, senders: {senders}': 'Mensagens não lidas: {messages}, remetentes: {senders}',
  'New channels': 'Novos canais',
  'News of the last week in {name}:': 'Novidades da última semana em {name}:',
  'Busy conversations: {count}': 'Conversas movimentadas: {count}',
  'New channels: {count}': 'Novos canais: {count}',
};
