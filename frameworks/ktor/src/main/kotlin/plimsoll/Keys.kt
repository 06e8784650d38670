package plimsoll

import java.io.File
import java.security.KeyFactory
import java.security.KeyStore
import java.security.cert.CertificateFactory
import java.security.spec.PKCS8EncodedKeySpec
import java.util.Base64

const val KEY_ALIAS = "server"

/** A fresh array each time: Ktor overwrites the one that it was given. */
val NO_PASSWORD get() = CharArray(0)

/** A key store in memory from two files of PEM, since Ktor takes nothing else. */
fun keyStore(certificate: String, key: String): KeyStore {
    val chain = File(certificate).inputStream().use {
        CertificateFactory.getInstance("X.509").generateCertificates(it)
    }
    val encoded = File(key).readLines().filterNot { it.startsWith("-----") }.joinToString("")
    val privateKey = KeyFactory.getInstance("EC")
        .generatePrivate(PKCS8EncodedKeySpec(Base64.getDecoder().decode(encoded)))
    return KeyStore.getInstance(KeyStore.getDefaultType()).apply {
        load(null, NO_PASSWORD)
        setKeyEntry(KEY_ALIAS, privateKey, NO_PASSWORD, chain.toTypedArray())
    }
}
